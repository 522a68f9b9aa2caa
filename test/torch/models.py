"""The PyTorch modules that test/torch/run.py exports: shapes of torchvision and transformers, and some of our own.

Each entry of MODELS is a function without arguments that gives (module, args) or (module, args, dynamic_shapes). Weights are random and made from the name alone; nothing is downloaded. Images and layers are few, so that all
of them compile in minutes.
"""
import torch
from torch import nn

MODELS = {}


def model(make):
    """Puts a function into MODELS by its name."""
    MODELS[make.__name__] = make
    return make


def image(size=64, batch=1):
    return torch.randn(batch, 3, size, size)


def tokens(length=12, words=99, batch=2):
    return torch.randint(1, words, (batch, length))


def calibrate(net, sample):
    """Gives norms the statistics of what they see, and last layers weights of size one, so that results depend on inputs."""
    norms = [module for module in net.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
    net.train()
    with torch.no_grad():
        net(sample)
    for module in net.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features ** -0.5)
    return net.eval()


def vision(name, size=64, **options):
    """A model of torchvision by name."""
    import torchvision
    return calibrate(torchvision.models.get_model(name, weights=None, **options), image(size, 8)), (image(size),)


def hugging(model_class, config_class, **options):
    """A model of transformers with a small configuration, and without caches among its outputs."""
    import transformers
    config = getattr(transformers, config_class)(**options)
    return getattr(transformers, model_class)(config)


# Convolutional networks.
@model
def resnet18():
    return vision("resnet18", num_classes=10)


@model
def resnet50():
    net, _ = vision("resnet50", num_classes=10)
    return net, (image(64, 2),), {"x": {0: "batch"}}


@model
def resnext():
    import torchvision
    net = torchvision.models.ResNet(torchvision.models.resnet.Bottleneck, [1, 1, 1, 1], groups=8, width_per_group=16, num_classes=10)
    return calibrate(net, image(64, 4)), (image(),)


@model
def mobilenet_v2():
    return vision("mobilenet_v2", num_classes=10)


@model
def mobilenet_v3():
    return vision("mobilenet_v3_small", num_classes=10)


@model
def efficientnet():
    return vision("efficientnet_b0", num_classes=10)


@model
def convnext():
    import torchvision
    setting = torchvision.models.convnext.CNBlockConfig
    net = torchvision.models.ConvNeXt([setting(32, 64, 2), setting(64, 128, 2), setting(128, None, 1)], num_classes=10)
    for name, parameter in net.named_parameters():
        if name.endswith("layer_scale"):  # 1e-6 at first: the blocks would not show
            nn.init.uniform_(parameter, 0.5, 1)
    return net, (image(),)


@model
def densenet():
    import torchvision
    net = torchvision.models.DenseNet(growth_rate=8, block_config=(3, 4, 3), num_init_features=16, num_classes=10)
    return calibrate(net, image(64, 4)), (image(),)


@model
def squeezenet():
    return vision("squeezenet1_1", num_classes=10)


@model
def shufflenet():
    return vision("shufflenet_v2_x0_5", num_classes=10)


@model
def regnet():
    return vision("regnet_y_400mf", num_classes=10)


@model
def deeplab():
    return vision("lraspp_mobilenet_v3_large", num_classes=5, weights_backbone=None)


class Unet(nn.Module):
    """Down twice, up twice, with skips; one upsampling is transposed, the other bilinear."""

    def __init__(self, width=8):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.SiLU())
        self.down = nn.ModuleList([block(3, width), block(width, 2 * width), block(2 * width, 4 * width)])
        self.up = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.smooth = nn.ModuleList([block(4 * width, 2 * width), block(3 * width, width)])
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        a = self.down[0](x)
        b = self.down[1](nn.functional.max_pool2d(a, 2))
        c = self.down[2](nn.functional.avg_pool2d(b, 2))
        b = self.smooth[0](torch.cat([self.up(c), b], 1))
        a = self.smooth[1](torch.cat([nn.functional.interpolate(b, scale_factor=2, mode="bilinear"), a], 1))
        return self.last(a)


@model
def unet():
    return Unet(), (image(32),)


# Vision transformers.
@model
def vit():
    import torchvision
    net = torchvision.models.VisionTransformer(image_size=64, patch_size=16, num_layers=2, num_heads=4, hidden_dim=64, mlp_dim=128, num_classes=10)
    return calibrate(net, image()), (image(64, 2),)


@model
def swin():
    import torchvision
    net = torchvision.models.SwinTransformer(patch_size=[4, 4], embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4], num_classes=10)
    return calibrate(net, image()), (image(),)


@model
def maxvit():
    import torchvision
    net = torchvision.models.MaxVit(input_size=(64, 64), stem_channels=16, partition_size=4, block_channels=[16, 32], block_layers=[1, 1],
                                    head_dim=8, stochastic_depth_prob=0.0, num_classes=10)
    return calibrate(net, image(64, 4)), (image(),)


# Language models.
@model
def bert():
    net = hugging("BertModel", "BertConfig", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
    mask = torch.ones(2, 12, dtype=torch.int64)
    mask[1, 8:] = 0
    return net, (tokens(), mask), {"input_ids": {0: "batch"}, "attention_mask": {0: "batch"}}


@model
def gpt2():
    net = hugging("GPT2LMHeadModel", "GPT2Config", vocab_size=99, n_embd=64, n_layer=2, n_head=4, n_positions=64, use_cache=False)
    return net, (tokens(),)


@model
def llama():
    net = hugging("LlamaForCausalLM", "LlamaConfig", vocab_size=99, hidden_size=64, num_hidden_layers=4, num_attention_heads=4,
                  num_key_value_heads=2, intermediate_size=128, use_cache=False)
    return net, (tokens(),)


@model
def mistral():
    net = hugging("MistralForCausalLM", "MistralConfig", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                  num_key_value_heads=2, intermediate_size=128, sliding_window=8, use_cache=False)
    return net, (tokens(),)


@model
def qwen2():
    net = hugging("Qwen2ForCausalLM", "Qwen2Config", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                  num_key_value_heads=2, intermediate_size=128, use_cache=False)
    return net, (tokens(),)


@model
def t5_encoder():
    net = hugging("T5EncoderModel", "T5Config", vocab_size=99, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4)
    return net, (tokens(),)


@model
def distilbert():
    net = hugging("DistilBertModel", "DistilBertConfig", vocab_size=99, dim=64, n_layers=2, n_heads=4, hidden_dim=128)
    return net, (tokens(),)


@model
def whisper_encoder():
    import transformers
    config = transformers.WhisperConfig(d_model=64, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=128, num_mel_bins=16,
                                        max_source_positions=32)
    return transformers.models.whisper.modeling_whisper.WhisperEncoder(config), (torch.randn(1, 16, 64),)


@model
def clip_text():
    net = hugging("CLIPTextModel", "CLIPTextConfig", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                  intermediate_size=128, eos_token_id=98, bos_token_id=97, pad_token_id=0)
    return net, (tokens(),)


@model
def wav2vec2():
    net = hugging("Wav2Vec2Model", "Wav2Vec2Config", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                  conv_dim=(32, 32), conv_stride=(5, 2), conv_kernel=(10, 3), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
    return net, (torch.randn(1, 400),)


# Shapes with ops of their own: rotations of parts of heads, biases by distance, experts, selective scans, caches of an encoder.
@model
def inception():
    return vision("inception_v3", size=96, num_classes=10, aux_logits=False, init_weights=False)


@model
def vgg():
    return vision("vgg11_bn", size=32, num_classes=10)


@model
def mnasnet():
    return vision("mnasnet0_5", num_classes=10)


@model
def fcn():
    return vision("fcn_resnet50", num_classes=5, weights_backbone=None)


@model
def video():
    import torchvision
    return torchvision.models.video.r3d_18(weights=None, num_classes=10), (torch.randn(1, 3, 4, 32, 32),)


@model
def gpt_neox():
    net = hugging("GPTNeoXForCausalLM", "GPTNeoXConfig", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                  intermediate_size=128, use_cache=False)
    return net, (tokens(),)


@model
def phi():
    net = hugging("PhiForCausalLM", "PhiConfig", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                  intermediate_size=128, use_cache=False)
    return net, (tokens(),)


@model
def gemma2():
    net = hugging("Gemma2ForCausalLM", "Gemma2Config", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                  num_key_value_heads=2, head_dim=16, intermediate_size=128, sliding_window=8, use_cache=False)
    return net, (tokens(),)


@model
def bloom():
    net = hugging("BloomForCausalLM", "BloomConfig", vocab_size=99, hidden_size=64, n_layer=2, n_head=4, use_cache=False)
    return net, (tokens(),)


@model
def opt():
    net = hugging("OPTForCausalLM", "OPTConfig", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128,
                  word_embed_proj_dim=64, max_position_embeddings=64, use_cache=False)
    return net, (tokens(),)


@model
def albert():
    net = hugging("AlbertModel", "AlbertConfig", vocab_size=99, embedding_size=32, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                  intermediate_size=128)
    return net, (tokens(),)


@model
def deberta():
    net = hugging("DebertaV2Model", "DebertaV2Config", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                  intermediate_size=128, relative_attention=True, pos_att_type=["p2c", "c2p"], max_position_embeddings=32)
    return net, (tokens(),)


@model
def segformer():
    net = hugging("SegformerForSemanticSegmentation", "SegformerConfig", num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[16, 32],
                  patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=32, num_labels=5)
    return calibrate(net, image(64, 4)), (image(),)


@model
def mamba():
    net = hugging("MambaForCausalLM", "MambaConfig", vocab_size=99, hidden_size=32, state_size=8, num_hidden_layers=2, use_cache=False)
    return net, (tokens(8),)


# Recurrent networks and plain torch.
class Recurrent(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.embed = nn.Embedding(99, 32)
        self.cell = cell(32, 48, num_layers=2, batch_first=True, bidirectional=True)
        self.last = nn.Linear(96, 99)

    def forward(self, ids):
        return self.last(self.cell(self.embed(ids))[0])


@model
def lstm():
    return Recurrent(nn.LSTM), (tokens(),)


@model
def gru():
    return Recurrent(nn.GRU), (tokens(),)


@model
def transformer():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, activation="gelu", norm_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (torch.randn(2, 10, 64),), {"src": {0: "batch", 1: "length"}}


class Mixer(nn.Module):
    """Products over patches and over channels, by einsum."""

    def __init__(self, patches=16, width=48):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 8, stride=8)
        self.tokens = nn.Parameter(torch.randn(patches, patches) / 4)
        self.norm, self.mix = nn.LayerNorm(width), nn.Sequential(nn.Linear(width, 96), nn.GELU(), nn.Linear(96, width))

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = x + torch.einsum("bpc,pq->bqc", self.norm(x), self.tokens)
        return (x + self.mix(self.norm(x))).mean(1).softmax(-1)


@model
def mixer():
    return Mixer(), (image(32),)


class Temporal(nn.Module):
    """Dilated causal convolutions with weight normalisation, gated."""

    def __init__(self, width=16):
        super().__init__()
        norm = nn.utils.parametrizations.weight_norm
        self.layers = nn.ModuleList([norm(nn.Conv1d(width, 2 * width, 3, dilation=2 ** i)) for i in range(3)])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            a, b = layer(nn.functional.pad(x, (2 * 2 ** i, 0))).chunk(2, 1)
            x = x + torch.tanh(a) * torch.sigmoid(b)
        return x


@model
def temporal():
    return Temporal(), (torch.randn(2, 16, 40),)


# Modules whose buffers change: calls follow one another.
STATEFUL = {}


def stateful(make):
    """Puts a function into STATEFUL by its name: it gives (module, [args of each call])."""
    STATEFUL[make.__name__] = make
    return make


class Counter(nn.Module):
    """A running mean that begins at 1, a counter of calls, and a ring of the last inputs."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(4))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("ring", torch.zeros(3, 4), persistent=False)

    def forward(self, x):
        self.ring[self.calls % 3] = x
        self.calls += 1
        self.mean.mul_(0.75).add_(x, alpha=0.25)
        return self.mean * 2, self.ring.sum(0)


@stateful
def counter():
    return Counter(), [(torch.randn(4),) for _ in range(5)]


class CachedAttention(nn.Module):
    """One token a call; keys and values of the tokens before are in buffers."""

    def __init__(self, width=32, heads=4, length=16):
        super().__init__()
        self.heads, self.project, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, heads, length, width // heads))

    def forward(self, x, position):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.project(x).chunk(3, -1))
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        seen = torch.arange(self.keys.shape[2]) <= position
        y = nn.functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen[None, None, None])
        return self.out(y.transpose(1, 2).flatten(2))


@stateful
def cached_attention():
    return CachedAttention(), [(torch.randn(1, 1, 32), torch.tensor([i])) for i in range(6)]


class StaticLlama(nn.Module):
    """A language model of transformers whose StaticCache lies in buffers."""

    def __init__(self):
        super().__init__()
        import transformers
        self.model = hugging("LlamaForCausalLM", "LlamaConfig", vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                             num_key_value_heads=2, intermediate_size=128)
        self.cache = transformers.StaticCache(config=self.model.config, max_cache_len=16)
        self.cache.early_initialization(1, 2, 16, torch.float32, torch.device("cpu"))
        for i, layer in enumerate(self.cache.layers):
            for name in ("keys", "values", "cumulative_length"):
                self.register_buffer(f"{name}{i}", getattr(layer, name))

    def forward(self, ids, position):
        for i, layer in enumerate(self.cache.layers):
            for name in ("keys", "values", "cumulative_length"):
                setattr(layer, name, getattr(self, f"{name}{i}"))
        return self.model(input_ids=ids, position_ids=position[None], past_key_values=self.cache, use_cache=True).logits


@stateful
def static_llama():
    return StaticLlama(), [(torch.randint(0, 99, (1, 1)), torch.tensor([i])) for i in range(5)]
