"""The operator vocabulary: which ATen calls are bookkeeping and what the others are called."""

from __future__ import annotations

VOCABULARY_VERSION = "11"

# Calls that move, name or copy values without computing any: they leave no node. In-place forms
# (`squeeze_`) count as their plain form.
BOOKKEEPING = frozenset(
    """
    view _unsafe_view reshape _reshape_alias _reshape_copy view_as t transpose permute movedim
    swapaxes expand expand_copy clone detach alias lift_fresh lift contiguous _to_copy to squeeze
    unsqueeze select slice narrow split split_with_sizes unsafe_split unsafe_split_with_sizes chunk
    unsafe_chunk unbind unfold as_strided diagonal view_as_real view_as_complex _conj conj
    resolve_conj resolve_neg copy real imag flatten unflatten positive dropout
    feature_dropout alpha_dropout native_dropout constant_pad_nd
    set resize _neg_view repeat fill zero bernoulli normal uniform _assert_async
    _linalg_check_errors
    select_copy permute_copy
    view_copy slice_copy squeeze_copy unsqueeze_copy transpose_copy detach_copy _fw_primal
    repeat_interleave tile pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle
    _pack_padded_sequence data _jagged_to_padded_dense_forward _padded_dense_to_jagged_forward
    """.split()
)

# Other names of one operation, whatever backend or variant computes it.
NAMES = {
    "_sparse_addmm": "matmul",
    "convolution": "conv",
    "_convolution": "conv",
    "convolution_overrideable": "conv",
    "mkldnn_convolution": "conv",
    "cudnn_convolution": "conv",
    "_softmax": "softmax",
    "_safe_softmax": "softmax",
    "_log_softmax": "log_softmax",
    "native_batch_norm": "batch_norm",
    "_native_batch_norm_legit": "batch_norm",
    "_native_batch_norm_legit_no_training": "batch_norm",
    "cudnn_batch_norm": "batch_norm",
    "_batch_norm_with_update": "batch_norm",
    "_batch_norm_no_update": "batch_norm",
    "native_layer_norm": "layer_norm",
    "native_group_norm": "group_norm",
    "_fused_rms_norm": "rms_norm",
    "max_pool2d_with_indices": "max_pool",
    "max_pool3d_with_indices": "max_pool",
    "max_pool1d": "max_pool",
    "max_pool2d": "max_pool",
    "max_pool3d": "max_pool",
    "avg_pool1d": "avg_pool",
    "avg_pool2d": "avg_pool",
    "avg_pool3d": "avg_pool",
    "_adaptive_avg_pool2d": "adaptive_avg_pool",
    "_adaptive_avg_pool3d": "adaptive_avg_pool",
    "adaptive_max_pool2d": "adaptive_max_pool",
    "adaptive_max_pool3d": "adaptive_max_pool",
    "rsub": "sub",
    "stack": "cat",
    "copy": "cat",  # written into a part of a live tensor
    "hstack": "cat",
    "_prelu_kernel": "prelu",
    "amax": "max",
    "amin": "min",
    "square": "pow",
    "index_select": "gather",
    "index": "gather",
    "take_along_dim": "gather",
}

# Bookkeeping whose result, or whose target, holds nothing of what was there before.
OVERWRITES = frozenset("copy fill zero bernoulli normal uniform".split())
# The functional forms of a write into a part: they copy the whole and write there.
SCATTERS = {"slice_scatter": "slice", "select_scatter": "select"}

LOOKUPS = frozenset({"index", "index_select", "gather"})
EMBEDDINGS = frozenset(
    {"embedding", "embedding_bag", "_embedding_bag", "_embedding_bag_forward_only"}
)

# An elementwise call with one live operand and a number changes scale or offset, not the design.
ARITHMETIC = frozenset({"add", "sub", "mul", "div", "neg", "rsub", "true_divide"})
MASKING = frozenset(
    "where masked_fill clamp clamp_min clamp_max nan_to_num maximum minimum tril triu".split()
)
COMPARISONS = frozenset(
    """
    eq ne gt lt ge le isnan logical_not logical_and logical_or bitwise_not bitwise_and bitwise_or
    """.split()
)
PRODUCTS = frozenset("mm bmm matmul mv dot".split())
_MODES = (
    *("nearest1d", "nearest2d", "nearest3d", "linear1d", "bilinear2d", "bicubic2d", "trilinear3d"),
    *("nearest_exact1d", "nearest_exact2d", "nearest_exact3d"),
)
RESAMPLINGS = frozenset(
    name
    for mode in _MODES
    for name in (f"upsample_{mode}", f"_upsample_{mode}", f"_upsample_{mode}_aa")
)
ATTENTION_KERNELS = frozenset(
    """
    scaled_dot_product_attention _scaled_dot_product_attention_math
    _scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu
    _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention
    _scaled_dot_product_fused_attention_overrideable
    """.split()
)
# On parameters alone these compute a weight, wherever it goes: it is as good as a parameter.
WEIGHT_ARITHMETIC = (
    ARITHMETIC
    | RESAMPLINGS
    | frozenset(
        """
        _weight_norm_interface _weight_norm norm linalg_vector_norm mv vdot dot var_mean std_mean
        std var mean sum sqrt rsqrt exp reciprocal pow abs softplus clamp clamp_min maximum lerp
        addcmul addcdiv square native_batch_norm relu sigmoid tanh softmax _softmax complex polar
        """.split()
    )
)
# What stays a layer where it reads parameters alone, as learned queries do that pass through it.
LAYERS = (
    frozenset({"mm", "bmm", "matmul", "addmm", "baddbmm", "linear", "_grouped_mm", "_trilinear"})
    | frozenset({"convolution", "_convolution", "native_layer_norm", "native_group_norm"})
    | frozenset({"_fused_rms_norm", "_native_multi_head_attention", "cdist", "_cdist_forward"})
    | EMBEDDINGS
    | ATTENTION_KERNELS
)
