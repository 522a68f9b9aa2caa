"""The ops that programs are made of: how each is drawn, written and evaluated. OPS maps names to them."""
from ops_attention import ATTENTION
from ops_contract import CONTRACTIONS
from ops_control import CONTROL
from ops_elementwise import ELEMENTWISE
from ops_extent import EXTENTS
from ops_fold import FOLDS
from ops_index import INDEXING
from ops_lines import LINES
from ops_position import POSITIONS
from ops_random import RANDOM
from ops_rearrange import REARRANGED
from ops_reduce import REDUCTIONS
from ops_shape import SHAPES
from ops_state import STATE
from ops_window import WINDOWS

OPS = {op.name: op for op in (*ELEMENTWISE, *SHAPES, *REARRANGED, *REDUCTIONS, *FOLDS, *CONTRACTIONS, *INDEXING, *LINES, *WINDOWS, *ATTENTION,
                              *POSITIONS, *RANDOM, *EXTENTS, *STATE, *CONTROL)}
