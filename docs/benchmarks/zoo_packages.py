"""Models of PyPI packages for which there were no hooks then, one public function each.

Constructor arguments are those of each package's README or documentation. Packages and the
versions used:

asteroid 0.7.0, braindecode 1.8.1, efficientnet_pytorch 0.7.1, fair-esm 2.0.0, kornia 0.9.0,
labml-nn 0.5.1, lightly 1.6.0, neuralforecast 3.3.0, neuraloperator 2.0.0, perceiver-pytorch
0.11.0, pretrainedmodels 0.7.4, pythae 0.1.2, pytorch-tabnet 4.1.0, pytorchvideo 0.1.5,
reformer-pytorch 1.4.4, segment-anything 1.0, spandrel 0.4.2, tab-transformer-pytorch 0.6.1,
torch-rechub 0.9.0, torchgeo 0.8.1, tsai 1.0.1.
"""

from types import SimpleNamespace

from torch import nn


def braindecode_eegnet() -> nn.Module:
    """EEGNet (Lawhern et al. 2018)."""
    from braindecode.models import EEGNet

    return EEGNet(n_chans=22, n_outputs=4, n_times=1000)


def braindecode_shallow_fbcsp() -> nn.Module:
    """Shallow FBCSP net (Schirrmeister et al. 2017)."""
    from braindecode.models import ShallowFBCSPNet

    return ShallowFBCSPNet(n_chans=22, n_outputs=4, n_times=1000, final_conv_length="auto")


def braindecode_deep4() -> nn.Module:
    """Deep4 net (Schirrmeister et al. 2017)."""
    from braindecode.models import Deep4Net

    return Deep4Net(n_chans=22, n_outputs=4, n_times=1000, final_conv_length="auto")


def braindecode_usleep() -> nn.Module:
    """U-Sleep (Perslev et al. 2021)."""
    from braindecode.models import USleep

    return USleep(n_chans=2, n_outputs=5, sfreq=128, input_window_seconds=30)


def tsai_inception_time() -> nn.Module:
    """InceptionTime (Fawaz et al. 2020)."""
    from tsai.models.InceptionTime import InceptionTime

    return InceptionTime(3, 5)


def tsai_resnet() -> nn.Module:
    """ResNet for time series (Wang et al. 2017)."""
    from tsai.models.ResNet import ResNet

    return ResNet(3, 5)


def tsai_lstm_fcn() -> nn.Module:
    """LSTM-FCN (Karim et al. 2018)."""
    from tsai.models.RNN_FCN import LSTM_FCN

    return LSTM_FCN(12, 5, 96)


def tsai_xcm() -> nn.Module:
    """Explainable convolutional network (Fauvel et al. 2021)."""
    from tsai.models.XCM import XCM

    return XCM(3, 5, 30)


def tsai_omni_scale_cnn() -> nn.Module:
    """OmniScale CNN (Tang et al. 2022)."""
    from tsai.models.OmniScaleCNN import OmniScaleCNN

    return OmniScaleCNN(3, 5, 96)


def kornia_hardnet() -> nn.Module:
    """HardNet descriptor of 32-pixel patches (Mishchuk et al. 2017)."""
    from kornia.feature import HardNet

    return HardNet(pretrained=False)


def kornia_sosnet() -> nn.Module:
    """SOSNet descriptor (Tian et al. 2019)."""
    from kornia.feature import SOSNet

    return SOSNet(pretrained=False)


def kornia_disk() -> nn.Module:
    """DISK local features (Tyszkiewicz et al. 2020)."""
    from kornia.feature import DISK

    return DISK(desc_dim=128)


def kornia_loftr() -> nn.Module:
    """LoFTR matching of two grey images in a dict (Sun et al. 2021)."""
    from kornia.feature import LoFTR

    return LoFTR(pretrained=None)


def kornia_dexined() -> nn.Module:
    """DexiNed edges (Soria et al. 2020)."""
    from kornia.models.dexined import DexiNed

    return DexiNed(pretrained=False)


def kornia_mobilevit() -> nn.Module:
    """MobileViT (Mehta and Rastegari 2022)."""
    from kornia.models.vit_mobile import MobileViT

    return MobileViT(mode="xxs")


def pretrainedmodels_nasnet_mobile() -> nn.Module:
    """NASNet-A mobile (Zoph et al. 2018)."""
    import pretrainedmodels

    return pretrainedmodels.nasnetamobile(num_classes=1000, pretrained=None)


def pretrainedmodels_inception_v4() -> nn.Module:
    """Inception v4 (Szegedy et al. 2017)."""
    import pretrainedmodels

    return pretrainedmodels.inceptionv4(num_classes=1000, pretrained=None)


def pretrainedmodels_se_resnext50() -> nn.Module:
    """SE-ResNeXt-50 (Hu et al. 2018)."""
    import pretrainedmodels

    return pretrainedmodels.se_resnext50_32x4d(num_classes=1000, pretrained=None)


def pretrainedmodels_dpn68() -> nn.Module:
    """Dual path network (Chen et al. 2017)."""
    import pretrainedmodels

    return pretrainedmodels.dpn68(num_classes=1000, pretrained=None)


def pretrainedmodels_xception() -> nn.Module:
    """Xception (Chollet 2017)."""
    import pretrainedmodels

    return pretrainedmodels.xception(num_classes=1000, pretrained=None)


def pretrainedmodels_polynet() -> nn.Module:
    """PolyNet (Zhang et al. 2017)."""
    import pretrainedmodels

    return pretrainedmodels.polynet(num_classes=1000, pretrained=None)


def spandrel_esrgan() -> nn.Module:
    """ESRGAN's generator (Wang et al. 2018)."""
    from spandrel.architectures.ESRGAN.__arch.RRDB import RRDBNet

    return RRDBNet(in_nc=3, out_nc=3, num_filters=64, num_blocks=23, scale=4)


def spandrel_span() -> nn.Module:
    """Swift parameter-free attention network (Wan et al. 2024)."""
    from spandrel.architectures.SPAN import SPAN

    return SPAN(num_in_ch=3, num_out_ch=3, feature_channels=48, upscale=4)


def spandrel_nafnet() -> nn.Module:
    """NAFNet (Chen et al. 2022)."""
    from spandrel.architectures.NAFNet import NAFNet

    return NAFNet(width=32, middle_blk_num=12, enc_blk_nums=[2, 2, 4, 8], dec_blk_nums=[2, 2, 2, 2])


def spandrel_compact() -> nn.Module:
    """SRVGGNet of Real-ESRGAN (Wang et al. 2021)."""
    from spandrel.architectures.Compact.__arch.SRVGG import SRVGGNetCompact

    return SRVGGNetCompact(num_in_ch=3, num_out_ch=3, num_feat=64, num_conv=32, upscale=4)


def spandrel_drunet() -> nn.Module:
    """DRUNet (Zhang et al. 2021)."""
    from spandrel.architectures.DRUNet import DRUNet

    return DRUNet(in_nc=4, out_nc=3)


def spandrel_fbcnn() -> nn.Module:
    """FBCNN for JPEG artefacts (Jiang et al. 2021)."""
    from spandrel.architectures.FBCNN import FBCNN

    return FBCNN(in_nc=3, out_nc=3)


def _series(name: str, **extra: object) -> nn.Module:
    import neuralforecast.models

    model = getattr(neuralforecast.models, name)
    return model(h=12, input_size=24, **extra)


def neuralforecast_nhits() -> nn.Module:
    """N-HiTS (Challu et al. 2023)."""
    return _series("NHITS", n_freq_downsample=[2, 1, 1])


def neuralforecast_nbeats() -> nn.Module:
    """N-BEATS (Oreshkin et al. 2020)."""
    return _series("NBEATS")


def neuralforecast_itransformer() -> nn.Module:
    """Inverted transformer, one token a series (Liu et al. 2024)."""
    return _series("iTransformer", n_series=2, hidden_size=128, n_heads=2, e_layers=2)


def neuralforecast_autoformer() -> nn.Module:
    """Autoformer (Wu et al. 2021)."""
    return _series("Autoformer", hidden_size=16, conv_hidden_size=32, n_head=2)


def neuralforecast_times_net() -> nn.Module:
    """TimesNet (Wu et al. 2023)."""
    return _series("TimesNet", hidden_size=16, conv_hidden_size=32)


def labml_switch_feed_forward() -> nn.Module:
    """Switch layer of experts (Fedus et al. 2021)."""
    from labml_nn.transformers.feed_forward import FeedForward
    from labml_nn.transformers.switch import SwitchFeedForward

    return SwitchFeedForward(
        capacity_factor=1.2,
        drop_tokens=False,
        is_scale_prob=True,
        n_experts=4,
        expert=FeedForward(128, 256, 0.0),
        d_model=128,
    )


def labml_conv_mixer() -> nn.Module:
    """ConvMixer (Trockman and Kolter 2022)."""
    from labml_nn.conv_mixer import ClassificationHead, ConvMixer, ConvMixerLayer, PatchEmbeddings

    return ConvMixer(
        ConvMixerLayer(256, 7), 8, PatchEmbeddings(256, 2, 3), ClassificationHead(256, 10)
    )


def labml_ddpm_unet() -> nn.Module:
    """U-Net of denoising diffusion (Ho et al. 2020)."""
    from labml_nn.diffusion.ddpm.unet import UNet

    return UNet(image_channels=3, n_channels=32)


def labml_graph_attention() -> nn.Module:
    """Graph attention with an adjacency tensor (Velickovic et al. 2018)."""
    from labml_nn.graphs.gat import GraphAttentionLayer

    return GraphAttentionLayer(in_features=1433, out_features=64, n_heads=8)


def labml_unet() -> nn.Module:
    """U-Net of the annotated implementations (Ronneberger et al. 2015)."""
    from labml_nn.unet import UNet

    return UNet(3, 1)


def labml_capsule_network() -> nn.Module:
    """Capsule network of the annotated implementations (Sabour et al. 2017)."""
    from labml_nn.capsule_networks.mnist import MNISTCapsuleNetworkModel

    return MNISTCapsuleNetworkModel()


def torchgeo_farseg() -> nn.Module:
    """FarSeg (Zheng et al. 2020)."""
    from torchgeo.models import FarSeg

    return FarSeg(backbone="resnet18", classes=16, backbone_pretrained=False)


def torchgeo_fcn() -> nn.Module:
    """Fully convolutional network on many bands (Long et al. 2015)."""
    from torchgeo.models import FCN

    return FCN(in_channels=4, classes=5, num_filters=64)


def torchgeo_fc_siam_conc() -> nn.Module:
    """Siamese change detection on a pair of images (Daudt et al. 2018)."""
    from torchgeo.models import FCSiamConc

    return FCSiamConc(encoder_name="resnet18", encoder_weights=None, in_channels=3, classes=1)


def torchgeo_changestar() -> nn.Module:
    """ChangeStar with FarSeg (Zheng et al. 2021)."""
    from torchgeo.models import ChangeStarFarSeg

    return ChangeStarFarSeg(backbone="resnet18", backbone_pretrained=False)


def torchgeo_rcf() -> nn.Module:
    """Random convolutional features (Rolf et al. 2021)."""
    from torchgeo.models import RCF

    return RCF(in_channels=4, features=16, kernel_size=3)


def esm2_8m() -> nn.Module:
    """ESM-2 of 8 million parameters (Lin et al. 2023)."""
    from esm.model.esm2 import ESM2

    return ESM2(num_layers=6, embed_dim=320, attention_heads=20)


def esm_msa_transformer() -> nn.Module:
    """MSA transformer on alignments (Rao et al. 2021)."""
    import esm

    args = SimpleNamespace(
        num_layers=4,
        layers=4,
        embed_dim=128,
        logit_bias=True,
        ffn_embed_dim=512,
        attention_heads=8,
        dropout=0.1,
        attention_dropout=0.1,
        activation_dropout=0.1,
        max_tokens=2**14,
        max_tokens_per_msa=2**14,
        max_positions=1024,
        embed_positions_msa=True,
        embed_positions_msa_dim=128,
    )
    return esm.MSATransformer(args, esm.Alphabet.from_architecture("msa_transformer"))


def segment_anything_vit_b() -> nn.Module:
    """Segment Anything, images and prompts as a list of dicts (Kirillov et al. 2023)."""
    from segment_anything import sam_model_registry

    return sam_model_registry["vit_b"](checkpoint=None)


def segment_anything_encoder() -> nn.Module:
    """Segment Anything's image encoder (Kirillov et al. 2023)."""
    from segment_anything import sam_model_registry

    return sam_model_registry["vit_b"](checkpoint=None).image_encoder


def efficientnet_b0() -> nn.Module:
    """EfficientNet-B0 (Tan and Le 2019)."""
    from efficientnet_pytorch import EfficientNet

    return EfficientNet.from_name("efficientnet-b0")


def efficientnet_b3_grey() -> nn.Module:
    """EfficientNet-B3 on one channel (Tan and Le 2019)."""
    from efficientnet_pytorch import EfficientNet

    return EfficientNet.from_name("efficientnet-b3", in_channels=1, num_classes=10)


def pytorchvideo_slowfast() -> nn.Module:
    """SlowFast, a list of two clips (Feichtenhofer et al. 2019)."""
    from pytorchvideo.models.slowfast import create_slowfast

    return create_slowfast(model_num_class=400)


def pytorchvideo_x3d() -> nn.Module:
    """X3D (Feichtenhofer 2020)."""
    from pytorchvideo.models.x3d import create_x3d

    return create_x3d(input_clip_length=13, input_crop_size=160, model_num_class=400)


def pytorchvideo_csn() -> nn.Module:
    """Channel-separated network (Tran et al. 2019)."""
    from pytorchvideo.models.csn import create_csn

    return create_csn(model_depth=50, model_num_class=400)


def pytorchvideo_r2plus1d() -> nn.Module:
    """R(2+1)D (Tran et al. 2018)."""
    from pytorchvideo.models.r2plus1d import create_r2plus1d

    return create_r2plus1d(model_num_class=400)


def perceiver_images() -> nn.Module:
    """Perceiver on channels-last images (Jaegle et al. 2021)."""
    from perceiver_pytorch import Perceiver

    return Perceiver(
        input_channels=3,
        input_axis=2,
        num_freq_bands=6,
        max_freq=10.0,
        depth=2,
        num_latents=256,
        latent_dim=512,
        num_classes=1000,
    )


def perceiver_io() -> nn.Module:
    """Perceiver IO with queries (Jaegle et al. 2022)."""
    from perceiver_pytorch import PerceiverIO

    return PerceiverIO(
        dim=32, queries_dim=32, logits_dim=100, depth=4, num_latents=128, latent_dim=256
    )


def reformer_lm() -> nn.Module:
    """Reformer language model (Kitaev et al. 2020)."""
    from reformer_pytorch import ReformerLM

    return ReformerLM(num_tokens=20000, dim=512, depth=2, max_seq_len=1024, heads=8)


def tab_transformer() -> nn.Module:
    """TabTransformer, categories and numbers (Huang et al. 2020)."""
    from tab_transformer_pytorch import TabTransformer

    return TabTransformer(
        categories=(10, 5, 6, 5, 8),
        num_continuous=10,
        dim=32,
        dim_out=1,
        depth=6,
        heads=8,
        mlp_hidden_mults=(4, 2),
        mlp_act=nn.ReLU(),
    )


def lightly_barlow_twins_head() -> nn.Module:
    """Projection head of Barlow Twins (Zbontar et al. 2021)."""
    from lightly.models.modules.heads import BarlowTwinsProjectionHead

    return BarlowTwinsProjectionHead(512, 2048, 2048)


def lightly_resnet_generator() -> nn.Module:
    """Lightly's ResNet for small images (He et al. 2016)."""
    from lightly.models import ResNetGenerator

    return ResNetGenerator("resnet-18", 1, num_splits=0)


def asteroid_conv_tasnet() -> nn.Module:
    """Conv-TasNet (Luo and Mesgarani 2019)."""
    from asteroid.models import ConvTasNet

    return ConvTasNet(n_src=2)


def asteroid_dprnn_tasnet() -> nn.Module:
    """Dual-path RNN (Luo et al. 2020)."""
    from asteroid.models import DPRNNTasNet

    return DPRNNTasNet(n_src=2)


def asteroid_sudormrf() -> nn.Module:
    """SuDORM-RF (Tzinis et al. 2020)."""
    from asteroid.models import SuDORMRFNet

    return SuDORMRFNet(n_src=2)


def asteroid_dcunet() -> nn.Module:
    """Deep complex U-Net (Choi et al. 2019)."""
    from asteroid.models import DCUNet

    return DCUNet("DCUNet-10", fix_length_mode="pad")


def asteroid_demask() -> nn.Module:
    """DeMask speech enhancement (Asteroid, 2020)."""
    from asteroid.models import DeMask

    return DeMask()


def pythae_vae() -> nn.Module:
    """VAE on a dataset-like input (Kingma and Welling 2014)."""
    from pythae.models import VAE, VAEConfig

    return VAE(VAEConfig(input_dim=(1, 28, 28), latent_dim=10))


def pythae_maf() -> nn.Module:
    """Masked autoregressive flow (Papamakarios et al. 2017)."""
    from pythae.models.normalizing_flows import MAF, MAFConfig

    return MAF(MAFConfig(input_dim=(32,)))


def neuralop_fno() -> nn.Module:
    """Fourier neural operator (Li et al. 2021)."""
    from neuralop.models import FNO

    return FNO(n_modes=(16, 16), hidden_channels=64, in_channels=2, out_channels=1)


def neuralop_uno() -> nn.Module:
    """U-shaped neural operator (Rahman et al. 2023)."""
    from neuralop.models import UNO

    return UNO(
        in_channels=3,
        out_channels=3,
        hidden_channels=64,
        uno_out_channels=[32, 64, 64, 64, 32],
        uno_n_modes=[[5, 5]] * 5,
        uno_scalings=[[1.0, 1.0], [0.5, 0.5], [1, 1], [1, 1], [2, 2]],
        n_layers=5,
        channel_mlp_skip="linear",
    )


def rechub_dssm() -> nn.Module:
    """Deep structured semantic model, a dict of ids (Huang et al. 2013)."""
    from torch_rechub.basic.features import SparseFeature
    from torch_rechub.models.matching import DSSM

    user = [SparseFeature(n, vocab_size=v, embed_dim=16) for n, v in (("user_id", 900), ("age", 8))]
    item = [
        SparseFeature(n, vocab_size=v, embed_dim=16) for n, v in (("item_id", 900), ("cate", 18))
    ]
    tower = {"dims": [256, 128, 64], "activation": "prelu"}
    return DSSM(user, item, user_params=tower, item_params=tower, temperature=0.02)


def rechub_wide_deep() -> nn.Module:
    """Wide and deep (Cheng et al. 2016)."""
    from torch_rechub.basic.features import DenseFeature, SparseFeature
    from torch_rechub.models.ranking import WideDeep

    dense = [DenseFeature(f"I{i}") for i in range(13)]
    sparse = [SparseFeature(f"C{i}", vocab_size=1000, embed_dim=16) for i in range(26)]
    mlp = {"dims": [256, 128], "dropout": 0.2, "activation": "relu"}
    return WideDeep(wide_features=dense, deep_features=sparse, mlp_params=mlp)


def rechub_mmoe() -> nn.Module:
    """Multi-gate mixture of experts (Ma et al. 2018)."""
    from torch_rechub.basic.features import DenseFeature, SparseFeature
    from torch_rechub.models.multi_task import MMOE

    features = [SparseFeature(f"C{i}", vocab_size=100, embed_dim=4) for i in range(10)]
    features += [DenseFeature(f"I{i}") for i in range(5)]
    return MMOE(
        features,
        task_types=["classification", "classification"],
        n_expert=8,
        expert_params={"dims": [16]},
        tower_params_list=[{"dims": [8]}, {"dims": [8]}],
    )


def tabnet() -> nn.Module:
    """TabNet without embeddings (Arik and Pfister 2021)."""
    import torch
    from pytorch_tabnet.tab_network import TabNetNoEmbeddings

    return TabNetNoEmbeddings(
        input_dim=54, output_dim=7, n_d=64, n_a=64, n_steps=5, group_attention_matrix=torch.eye(54)
    )
