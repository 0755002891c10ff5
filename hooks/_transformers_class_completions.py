"""By class: what only that class of a model type needs beside the default configuration."""

from __future__ import annotations

from typing import Any

_LISTED_STAGES = {"hidden_sizes": [96, 192, 384, 768]}  # as a list: a backbone adds to it
_READING_QFORMER = {"qformer_config": {"use_qformer_text_input": True}}

BY_CLASS: dict[str, dict[str, Any]] = {
    "BeitForSemanticSegmentation": {"out_indices": [3, 5, 7, 11]},
    # Salesforce/blip2-itm-vit-g: the Q-Former reads the text
    "Blip2ForImageTextRetrieval": _READING_QFORMER,
    "Blip2TextModelWithProjection": _READING_QFORMER,
    # BridgeTower/bridgetower-large-itm-mlm-itc
    "BridgeTowerForContrastiveLearning": {
        "contrastive_hidden_size": 512,
        "logit_scale_init_value": 2.6592,
    },
    "ConvNextBackbone": _LISTED_STAGES,
    "ConvNextV2Backbone": _LISTED_STAGES,
    "EsmForProteinFolding": {"is_folding_model": True},
    "FocalNetBackbone": {"hidden_sizes": [192, 384, 768, 768]},
    # facebook/hiera-tiny-224-mae-hf
    "HieraForPreTraining": {
        "decoder_hidden_size": 512,
        "decoder_depth": 8,
        "decoder_num_heads": 16,
    },
    # deepmind/vision-perceiver-conv, -fourier and its like: 322 or 261 channels, one head
    "PerceiverForImageClassificationConvProcessing": {"num_cross_attention_heads": 1},
    "PerceiverForImageClassificationFourier": {"num_cross_attention_heads": 1},
    # deepmind/multimodal-perceiver: Kinetics-700
    "PerceiverForMultimodalAutoencoding": {
        "num_cross_attention_heads": 1,
        "num_latents": 784,
        "d_latents": 512,
        "image_size": 224,
        "num_labels": 700,
    },
    "PerceiverForOpticalFlow": {"num_cross_attention_heads": 1},
    "ReformerModelWithLMHead": {"is_decoder": True},
    "T5GemmaEncoderModel": {"is_encoder_decoder": False},
    # facebook/hubert-large-ls960-ft and its like: letters
    "Wav2Vec2BertForCTC": {"vocab_size": 32},
    "Wav2Vec2ConformerForCTC": {"vocab_size": 32},
    # dandelin/vilt-b32-finetuned-nlvr2
    "ViltForImagesAndTextClassification": {"num_images": 2, "modality_type_vocab_size": 3},
    "VitMatteForImageMatting": {
        "convstream_hidden_sizes": [48, 96, 192],
        "fusion_hidden_sizes": [256, 128, 64, 32],
        # The trimap is a fourth channel. hustvl/vitmatte-small-composition-1k
        "backbone_config": {
            "model_type": "vitdet",
            "hidden_size": 384,
            "num_attention_heads": 6,
            "num_channels": 4,
            "out_features": ["stage12"],
        },
        "hidden_size": 384,
    },
}
