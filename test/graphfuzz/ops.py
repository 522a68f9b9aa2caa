"""The ops that programs are made of: how each is drawn, written and evaluated. OPS maps names to them."""
from ops_contract import CONTRACTIONS
from ops_control import CONTROL
from ops_elementwise import ELEMENTWISE
from ops_index import INDEXING
from ops_reduce import REDUCTIONS
from ops_shape import SHAPES

OPS = {op.name: op for op in (*ELEMENTWISE, *SHAPES, *REDUCTIONS, *CONTRACTIONS, *INDEXING, *CONTROL)}
