"""The models in the READMEs of lucidrains' packages, as each README makes and calls them.

Only what could be traced is here, and each graph once. A README that makes a class more than once
gives the second the name of the class with `-2` behind it.
"""

from __future__ import annotations

from nar_plugin.hooks._lucidrains_examples import Example

EXAMPLES = {
    "adjacent-attention-pytorch": {
        "adjacent_attention_network/AdjacentAttentionNetwork": Example(
            "adjacent_attention_network",
            "AdjacentAttentionNetwork(dim=512, depth=6, heads=4)",
            "call(torch.randn(1, 1024, 512), torch.empty(1, 1024, 1024).uniform_(0, 1) < 0.1, "
            "mask=torch.ones(1, 1024).bool())",
        ),
    },
    "agent-attention-pytorch": {
        "agent_attention_pytorch/AgentSelfAttention": Example(
            "agent_attention_pytorch",
            "AgentSelfAttention(dim=512, num_agent_tokens=256, dim_head=64, heads=8)",
            "call(torch.randn(2, 65536, 512), mask=torch.ones(2, 65536).bool())",
        ),
        "agent_attention_pytorch/AgentTransformer": Example(
            "agent_attention_pytorch",
            "AgentTransformer(dim=512, depth=6, num_agent_tokens=128, dim_head=64, heads=8)",
            "call(torch.randn(2, 65536, 512), mask=torch.ones(2, 65536).bool())",
        ),
    },
    "anymal-belief-state-encoder-decoder-pytorch": {
        "anymal_belief_state_encoder_decoder_pytorch/Student": Example(
            "anymal_belief_state_encoder_decoder_pytorch",
            "Student(num_actions=10, num_legs=4, extero_dim=52, proprio_dim=133, "
            "gru_num_layers=2, gru_hidden_size=50)",
            "call(torch.randn(1, 133), torch.randn(1, 4, 52))",
        ),
        "anymal_belief_state_encoder_decoder_pytorch/Anymal": Example(
            "anymal_belief_state_encoder_decoder_pytorch",
            "Anymal(num_actions=10, num_legs=4, extero_dim=52, proprio_dim=133, "
            "privileged_dim=50, recon_loss_weight=0.5)",
            "call(torch.randn(1, 133), torch.randn(1, 4, 52), torch.randn(1, 50))",
        ),
    },
    "aoa-pytorch": {
        "aoa_pytorch/AoA": Example(
            "aoa_pytorch",
            "AoA(dim=512, heads=8)",
            "call(torch.randn(1, 1024, 512))",
        ),
    },
    "assoc-scan": {
        "assoc_scan/AssocScan": Example(
            "assoc_scan",
            "AssocScan()",
            "call(torch.randn(1, 1024, 512).sigmoid(), torch.randn(1, 1024, 512))",
        ),
    },
    "autoregressive-diffusion-pytorch": {
        "autoregressive_diffusion_pytorch/AutoregressiveDiffusion": Example(
            "autoregressive_diffusion_pytorch",
            "AutoregressiveDiffusion(dim_input=512, dim=1024, max_seq_len=32, depth=8, "
            "mlp_depth=3, mlp_width=1024)",
            "call(torch.randn(3, 32, 512))",
        ),
        "autoregressive_diffusion_pytorch/ImageAutoregressiveDiffusion": Example(
            "autoregressive_diffusion_pytorch",
            "ImageAutoregressiveDiffusion(model=dict(dim=1024, depth=12, heads=12), "
            "image_size=64, patch_size=8)",
            "call(torch.randn(3, 3, 64, 64))",
        ),
        "autoregressive_diffusion_pytorch/ImageAutoregressiveDiffusion-2": Example(
            "autoregressive_diffusion_pytorch",
            "ImageAutoregressiveDiffusion(model=dict(dim=512), image_size=128, patch_size=16)",
        ),
        "autoregressive_diffusion_pytorch/ImageAutoregressiveFlow": Example(
            "autoregressive_diffusion_pytorch",
            "ImageAutoregressiveFlow(model=dict(dim=512), image_size=128, patch_size=16, "
            "xm_candidates=4)",
        ),
    },
    "axial-attention": {
        "axial_attention/AxialAttention": Example(
            "axial_attention",
            "AxialAttention(dim=3, dim_index=1, dim_heads=32, heads=1, num_dimensions=2, "
            "sum_axial_out=True)",
            "call(torch.randn(1, 3, 256, 256))",
        ),
        "axial_attention/AxialAttention-2": Example(
            "axial_attention",
            "AxialAttention(dim=512, dim_index=-1, heads=8, num_dimensions=2)",
            "call(torch.randn(1, 20, 20, 512))",
        ),
        "axial_attention/AxialAttention-3": Example(
            "axial_attention",
            "AxialAttention(dim=128, dim_index=2, heads=8, num_dimensions=3)",
            "call(torch.randn(1, 5, 128, 256, 256))",
        ),
        "axial_attention/AxialImageTransformer": Example(
            "axial_attention",
            "AxialImageTransformer(dim=128, depth=12, reversible=True)",
            "call(nn.Conv2d(3, 128, 1)(torch.randn(1, 3, 512, 512)))",
        ),
        "axial_attention/AxialPositionalEmbedding": Example(
            "axial_attention",
            "AxialPositionalEmbedding(dim=512, shape=(20, 20))",
            "call(torch.randn(1, 512, 20, 20))",
        ),
    },
    "axial_positional_embedding": {
        "axial_positional_embedding/ContinuousAxialPositionalEmbedding": Example(
            "axial_positional_embedding",
            "ContinuousAxialPositionalEmbedding(dim=512, num_axial_dims=3)",
            "call((8, 16, 32))",
        ),
    },
    "bidirectional-cross-attention": {
        "bidirectional_cross_attention/BidirectionalCrossAttention": Example(
            "bidirectional_cross_attention",
            "BidirectionalCrossAttention(dim=512, heads=8, dim_head=64, context_dim=386)",
            "call(torch.randn(1, 4096, 512), torch.randn(1, 8192, 386), mask=torch.ones((1, "
            "4096)).bool(), context_mask=torch.ones((1, 8192)).bool())",
        ),
    },
    "bit-diffusion": {
        "bit_diffusion/Unet": Example(
            "bit_diffusion",
            "Unet(dim=32, channels=3, dim_mults=(1, 2, 4, 8))",
        ),
        "bit_diffusion/BitDiffusion": Example(
            "bit_diffusion",
            "BitDiffusion(Unet(dim=32, channels=3, dim_mults=(1, 2, 4, 8)), image_size=128, "
            "timesteps=100, time_difference=0.1, use_ddim=True)",
        ),
        "bit_diffusion/Unet-2": Example(
            "bit_diffusion",
            "Unet(dim=64, dim_mults=(1, 2, 4, 8))",
        ),
        "bit_diffusion/BitDiffusion-2": Example(
            "bit_diffusion",
            "BitDiffusion(Unet(dim=64, dim_mults=(1, 2, 4, 8)), image_size=128, timesteps=1000)",
            "call(torch.randn(8, 3, 128, 128))",
        ),
    },
    "block-recurrent-transformer-pytorch": {
        "block_recurrent_transformer_pytorch/BlockRecurrentTransformer": Example(
            "block_recurrent_transformer_pytorch",
            "BlockRecurrentTransformer(num_tokens=20000, dim=512, depth=6, dim_head=64, heads=8, "
            "max_seq_len=1024, block_width=512, num_state_vectors=512, recurrent_layers=(4,), "
            "use_compressed_mem=False, compressed_mem_factor=4, use_flash_attn=True)",
            "call(torch.randint(0, 2000, (1, 1024)))",
        ),
    },
    "bottleneck-transformer-pytorch": {
        "bottleneck_transformer_pytorch/BottleStack": Example(
            "bottleneck_transformer_pytorch",
            "BottleStack(dim=256, fmap_size=64, dim_out=2048, proj_factor=4, downsample=True, "
            "heads=4, dim_head=128, rel_pos_emb=False, activation=nn.ReLU())",
            "call(torch.randn(2, 256, 64, 64))",
        ),
    },
    "charformer-pytorch": {
        "charformer_pytorch/GBST": Example(
            "charformer_pytorch",
            "GBST(num_tokens=257, dim=512, max_block_size=4, downsample_factor=4, "
            "score_consensus_attn=True)",
            "call(torch.randint(0, 257, (1, 1023)), mask=torch.ones(1, 1023).bool())",
        ),
        "charformer_pytorch/GBST-2": Example(
            "charformer_pytorch",
            "GBST(num_tokens=257, dim=512, blocks=((3, 0), (3, 1), (3, 2)), downsample_factor=3, "
            "score_consensus_attn=True)",
            "call(torch.randint(0, 257, (1, 1023)), mask=torch.ones(1, 1023).bool())",
        ),
    },
    "CoCa-pytorch": {
        "coca_pytorch.coca_pytorch/CoCa": Example(
            "coca_pytorch.coca_pytorch vit_pytorch.extractor "
            "vit_pytorch.simple_vit_with_patch_dropout",
            "CoCa(dim=512, img_encoder=Extractor(SimpleViT(image_size=256, patch_size=32, "
            "num_classes=1000, dim=1024, depth=6, heads=16, mlp_dim=2048, patch_dropout=0.5), "
            "return_embeddings_only=True, detach=False), image_dim=1024, num_tokens=20000, "
            "unimodal_depth=6, multimodal_depth=6, dim_head=64, heads=8, caption_loss_weight=1.0, "
            "contrastive_loss_weight=1.0)",
            "call(text=torch.randint(0, 20000, (4, 512)), images=torch.randn(4, 3, 256, 256), "
            "return_loss=True)",
        ),
    },
    "CoLT5-attention": {
        "colt5_attention/ConditionalRoutedFeedForward": Example(
            "colt5_attention",
            "ConditionalRoutedFeedForward(dim=512, light_ff_mult=0.5, heavy_ff_mult=4, "
            "num_heavy_tokens=1024)",
            "call(torch.randn(2, 32768, 512), mask=torch.ones(2, 32768).bool())",
        ),
        "colt5_attention/ConditionalRoutedAttention": Example(
            "colt5_attention",
            "ConditionalRoutedAttention(dim=512, light_dim_head=64, light_heads=8, "
            "light_window_size=128, heavy_dim_head=64, heavy_heads=8, num_heavy_tokens_q=1024, "
            "num_heavy_tokens_kv=1024)",
            "call(torch.randn(2, 32768, 512), mask=torch.ones(2, 32768).bool())",
        ),
        "colt5_attention/ConditionalRoutedTransformerBlock": Example(
            "colt5_attention",
            "ConditionalRoutedTransformerBlock(dim=512, light_dim_head=64, light_heads=8, "
            "light_window_size=128, heavy_dim_head=64, heavy_heads=8, light_ff_mult=0.5, "
            "heavy_ff_mult=4, num_heavy_ff_tokens=1024, num_heavy_attn_tokens_q=1024, "
            "num_heavy_attn_tokens_kv=1024)",
            "call(torch.randn(2, 32768, 512), mask=torch.ones(2, 32768).bool())",
        ),
        "colt5_attention/ConditionalRoutedAutoregressiveAttention": Example(
            "colt5_attention",
            "ConditionalRoutedAutoregressiveAttention(dim=512, light_dim_head=64, light_heads=8, "
            "light_window_size=128, heavy_window_size=128, heavy_dim_head=64, heavy_heads=8, "
            "num_heavy_tokens_q=32, num_heavy_tokens_kv=1024, num_routed_kv=2, use_triton=True, "
            "use_flash_attn=True)",
            "call(torch.randn(2, 8192, 512))",
        ),
        "colt5_attention/ConditionalRoutedImageAttention": Example(
            "colt5_attention",
            "ConditionalRoutedImageAttention(dim=32, light_dim_head=64, light_heads=8, "
            "light_window_size=32, channel_first=True, heavy_dim_head=64, heavy_heads=8, "
            "num_heavy_tokens_q=1024, num_heavy_tokens_kv=1024)",
            "call(torch.randn(1, 32, 256, 256))",
        ),
        "colt5_attention.vit/ConditionalRoutedViT": Example(
            "colt5_attention.vit",
            "ConditionalRoutedViT(image_size=256, patch_size=32, num_classes=1000, dim=1024, "
            "depth=6, attn_num_heavy_tokens_q=16, attn_num_heavy_tokens_kv=16, "
            "attn_heavy_dim_head=64, attn_heavy_heads=8, attn_light_window_size=4, "
            "attn_light_dim_head=32, attn_light_heads=4, ff_num_heavy_tokens=16, ff_heavy_mult=4, "
            "ff_light_mult=2)",
            "call(torch.randn(1, 3, 256, 256))",
        ),
    },
    "compositional-attention-pytorch": {
        "compositional_attention_pytorch/CompositionalAttention": Example(
            "compositional_attention_pytorch",
            "CompositionalAttention(dim=1024, dim_head=64, num_searches=8, num_retrievals=2, "
            "dropout=0.0)",
            "call(torch.randn(1, 512, 1024), mask=torch.ones((1, 512)).bool())",
        ),
    },
    "compressive-transformer-pytorch": {
        "compressive_transformer_pytorch/CompressiveTransformer": Example(
            "compressive_transformer_pytorch",
            "CompressiveTransformer(num_tokens=20000, emb_dim=128, dim=512, depth=12, "
            "seq_len=1024, mem_len=1024, cmem_len=1024 // 4, cmem_ratio=4, "
            "reconstruction_loss_weight=1, attn_dropout=0.1, ff_dropout=0.1, "
            "attn_layer_dropout=0.1, gru_gated_residual=True, mogrify_gru=False, "
            "memory_layers=range(6, 13), ff_glu=True)",
            "call(torch.randint(0, 256, (1, 2048)).reshape(1, -1, 1024).transpose(0, 1)[0], "
            "mask=torch.ones_like(torch.randint(0, 256, (1, 2048))).bool().reshape(1, -1, "
            "1024).transpose(0, 1)[0])",
        ),
        "compressive_transformer_pytorch/CompressiveTransformer-2": Example(
            "compressive_transformer_pytorch",
            "CompressiveTransformer(num_tokens=20000, dim=512, depth=6, seq_len=1024, "
            "mem_len=1024, cmem_len=256, cmem_ratio=4, memory_layers=[5, 6])",
        ),
    },
    "conformer": {
        "conformer/ConformerConvModule": Example(
            "conformer",
            "ConformerConvModule(dim=512, causal=False, expansion_factor=2, kernel_size=31, "
            "dropout=0.0)",
            "call(torch.randn(1, 1024, 512))",
        ),
        "conformer/ConformerBlock": Example(
            "conformer",
            "ConformerBlock(dim=512, dim_head=64, heads=8, ff_mult=4, conv_expansion_factor=2, "
            "conv_kernel_size=31, attn_dropout=0.0, ff_dropout=0.0, conv_dropout=0.0)",
            "call(torch.randn(1, 1024, 512))",
        ),
        "conformer/Conformer": Example(
            "conformer",
            "Conformer(dim=512, depth=12, dim_head=64, heads=8, ff_mult=4, "
            "conv_expansion_factor=2, conv_kernel_size=31, attn_dropout=0.0, ff_dropout=0.0, "
            "conv_dropout=0.0)",
            "call(torch.randn(1, 1024, 512))",
        ),
    },
    "coordinate-descent-attention": {
        "coordinate_descent_attention/Transformer": Example(
            "coordinate_descent_attention",
            "Transformer(num_tokens=256, dim=512, depth=2, seq_len=2048, dim_head=64, heads=8, "
            "attn_use_coor_descent=True)",
            "call(torch.randint(0, 256, (1, 2048)))",
        ),
    },
    "dalle2-pytorch": {
        "dalle2_pytorch/CLIP": Example(
            "dalle2_pytorch",
            "CLIP(dim_text=512, dim_image=512, dim_latent=512, num_text_tokens=49408, "
            "text_enc_depth=1, text_seq_len=256, text_heads=8, visual_enc_depth=1, "
            "visual_image_size=256, visual_patch_size=32, visual_heads=8, "
            "use_all_token_embeds=True, decoupled_contrastive_learning=True, "
            "extra_latent_projection=True, use_visual_ssl=True, visual_ssl_type='simclr', "
            "use_mlm=False, text_ssl_loss_weight=0.05, image_ssl_loss_weight=0.05)",
            "call(torch.randint(0, 49408, (4, 256)), torch.randn(4, 3, 256, 256), "
            "return_loss=True)",
        ),
        "dalle2_pytorch/Unet": Example(
            "dalle2_pytorch",
            "Unet(dim=128, image_embed_dim=512, cond_dim=128, channels=3, dim_mults=(1, 2, 4, 8))",
        ),
        "dalle2_pytorch/Decoder": Example(
            "dalle2_pytorch",
            "Decoder(unet=Unet(dim=128, image_embed_dim=512, cond_dim=128, channels=3, "
            "dim_mults=(1, 2, 4, 8)), clip=CLIP(dim_text=512, dim_image=512, dim_latent=512, "
            "num_text_tokens=49408, text_enc_depth=1, text_seq_len=256, text_heads=8, "
            "visual_enc_depth=1, visual_image_size=256, visual_patch_size=32, visual_heads=8), "
            "timesteps=100, image_cond_drop_prob=0.1, text_cond_drop_prob=0.5)",
            "call(torch.randn(4, 3, 256, 256))",
        ),
        "dalle2_pytorch/DiffusionPriorNetwork": Example(
            "dalle2_pytorch",
            "DiffusionPriorNetwork(dim=512, depth=6, dim_head=64, heads=8)",
        ),
        "dalle2_pytorch/DiffusionPrior": Example(
            "dalle2_pytorch",
            "DiffusionPrior(net=DiffusionPriorNetwork(dim=512, depth=6, dim_head=64, heads=8), "
            "clip=CLIP(dim_text=512, dim_image=512, dim_latent=512, num_text_tokens=49408, "
            "text_enc_depth=6, text_seq_len=256, text_heads=8, visual_enc_depth=6, "
            "visual_image_size=256, visual_patch_size=32, visual_heads=8), timesteps=100, "
            "cond_drop_prob=0.2)",
            "call(torch.randint(0, 49408, (4, 256)), torch.randn(4, 3, 256, 256))",
        ),
        "dalle2_pytorch/Unet-2": Example(
            "dalle2_pytorch",
            "Unet(dim=32, image_embed_dim=512, cond_dim=128, channels=3, dim_mults=(1, 2, 4, 8))",
        ),
        "dalle2_pytorch/Unet-3": Example(
            "dalle2_pytorch",
            "Unet(dim=32, image_embed_dim=512, cond_dim=128, channels=3, dim_mults=(1, 2, 4, 8, "
            "16))",
        ),
        "dalle2_pytorch/Decoder-2": Example(
            "dalle2_pytorch",
            "Decoder(clip=CLIP(dim_text=512, dim_image=512, dim_latent=512, "
            "num_text_tokens=49408, text_enc_depth=6, text_seq_len=256, text_heads=8, "
            "visual_enc_depth=6, visual_image_size=256, visual_patch_size=32, visual_heads=8), "
            "unet=(Unet(dim=32, image_embed_dim=512, cond_dim=128, channels=3, dim_mults=(1, 2, "
            "4, 8)), Unet(dim=32, image_embed_dim=512, cond_dim=128, channels=3, dim_mults=(1, 2, "
            "4, 8, 16))), image_sizes=(256, 512), timesteps=1000, image_cond_drop_prob=0.1, "
            "text_cond_drop_prob=0.5)",
            "call(torch.randn(4, 3, 512, 512), unet_number=1)",
        ),
        "dalle2_pytorch/Unet-5": Example(
            "dalle2_pytorch",
            "Unet(dim=16, image_embed_dim=512, cond_dim=128, channels=3, dim_mults=(1, 2, 4, 8, "
            "16))",
        ),
        "dalle2_pytorch/DiffusionPrior-4": Example(
            "dalle2_pytorch",
            "DiffusionPrior(net=DiffusionPriorNetwork(dim=512, depth=6, dim_head=64, heads=8), "
            "image_embed_dim=512, timesteps=100, cond_drop_prob=0.2, "
            "condition_on_text_encodings=False)",
            "call(text_embed=torch.randn(4, 512), image_embed=torch.randn(4, 512))",
        ),
        "dalle2_pytorch/Unet-7": Example(
            "dalle2_pytorch",
            "Unet(dim=16, image_embed_dim=512, cond_dim=128, channels=3, dim_mults=(1, 1, 1, 1))",
        ),
        "dalle2_pytorch/Decoder-5": Example(
            "dalle2_pytorch",
            "Decoder(clip=CLIP(dim_text=512, dim_image=512, dim_latent=512, "
            "num_text_tokens=49408, text_enc_depth=6, text_seq_len=256, text_heads=8, "
            "visual_enc_depth=6, visual_image_size=256, visual_patch_size=32, visual_heads=8), "
            "unet=(Unet(dim=16, image_embed_dim=512, cond_dim=128, channels=3, dim_mults=(1, 1, "
            "1, 1)),), image_sizes=(256,), timesteps=1000, image_cond_drop_prob=0.1, "
            "text_cond_drop_prob=0.5)",
            "call(torch.randn(4, 3, 256, 256), unet_number=1)",
        ),
        "dalle2_pytorch/Unet-8": Example(
            "dalle2_pytorch",
            "Unet(dim=32, image_embed_dim=512, cond_dim=128, channels=3, sparse_attn=True, "
            "sparse_attn_window=2, dim_mults=(1, 2, 4, 8))",
        ),
        "dalle2_pytorch/Unet-12": Example(
            "dalle2_pytorch",
            "Unet(dim=32, dim_mults=(1, 2, 4, 8, 16))",
        ),
    },
    "declarative-attention": {
        "declarative_attention/DeclarativeAttentionWrapper": Example(
            "declarative_attention x_transformers",
            "DeclarativeAttentionWrapper(TransformerWrapper(num_tokens=256, max_seq_len=1024, "
            "attn_layers=Decoder(dim=64, depth=2, heads=4)))",
            "call(torch.randint(0, 256, (2, 512)), chunk_spans=[(64, 128), (128, 192)], "
            "prompt_len=64)",
        ),
    },
    "deep-linear-network": {
        "deep_linear_network/DeepLinear": Example(
            "deep_linear_network",
            "DeepLinear(256, 10, 512)",
            "call(torch.randn(1, 1024, 256))",
        ),
        "deep_linear_network/DeepLinear-2": Example(
            "deep_linear_network",
            "DeepLinear(256, 256, 256, 256, 128)",
            "call(torch.randn(1, 1024, 256))",
        ),
    },
    "deformable-attention": {
        "deformable_attention/DeformableAttention": Example(
            "deformable_attention",
            "DeformableAttention(dim=512, dim_head=64, heads=8, dropout=0.0, downsample_factor=4, "
            "offset_scale=4, offset_groups=None, offset_kernel_size=6)",
            "call(torch.randn(1, 512, 64, 64))",
        ),
        "deformable_attention/DeformableAttention3D": Example(
            "deformable_attention",
            "DeformableAttention3D(dim=512, dim_head=64, heads=8, dropout=0.0, "
            "downsample_factor=(2, 8, 8), offset_scale=(2, 8, 8), offset_kernel_size=(4, 10, 10))",
            "call(torch.randn(1, 512, 10, 32, 32))",
        ),
        "deformable_attention/DeformableAttention1D": Example(
            "deformable_attention",
            "DeformableAttention1D(dim=128, downsample_factor=4, offset_scale=2, "
            "offset_kernel_size=6)",
            "call(torch.randn(1, 128, 512))",
        ),
    },
    "denoising-diffusion-pytorch": {
        "denoising_diffusion_pytorch/Unet": Example(
            "denoising_diffusion_pytorch",
            "Unet(dim=64, dim_mults=(1, 2, 4, 8), flash_attn=True)",
        ),
        "denoising_diffusion_pytorch/GaussianDiffusion": Example(
            "denoising_diffusion_pytorch",
            "GaussianDiffusion(Unet(dim=64, dim_mults=(1, 2, 4, 8), flash_attn=True), "
            "image_size=128, timesteps=1000)",
            "call(torch.rand(8, 3, 128, 128))",
        ),
        "denoising_diffusion_pytorch/GaussianDiffusion-2": Example(
            "denoising_diffusion_pytorch",
            "GaussianDiffusion(Unet(dim=64, dim_mults=(1, 2, 4, 8), flash_attn=True), "
            "image_size=128, timesteps=1000, sampling_timesteps=250)",
        ),
        "denoising_diffusion_pytorch/XMWrapper": Example(
            "denoising_diffusion_pytorch",
            "XMWrapper(GaussianDiffusion(Unet(dim=64, dim_mults=(1, 2, 4, 8)), image_size=128, "
            "timesteps=1000), candidates=4)",
            "call(torch.rand(8, 3, 128, 128))",
        ),
        "denoising_diffusion_pytorch/Unet1D": Example(
            "denoising_diffusion_pytorch",
            "Unet1D(dim=64, dim_mults=(1, 2, 4, 8), channels=32)",
        ),
        "denoising_diffusion_pytorch/GaussianDiffusion1D": Example(
            "denoising_diffusion_pytorch",
            "GaussianDiffusion1D(Unet1D(dim=64, dim_mults=(1, 2, 4, 8), channels=32), "
            "seq_length=128, timesteps=1000, objective='pred_v')",
            "call(torch.rand(64, 32, 128))",
        ),
    },
    "discrete-key-value-bottleneck-pytorch": {
        "discrete_key_value_bottleneck_pytorch/DiscreteKeyValueBottleneck": Example(
            "discrete_key_value_bottleneck_pytorch",
            "DiscreteKeyValueBottleneck(dim=512, dim_memory=512, num_memory_codebooks=2, "
            "num_memories=256, decay=0.9)",
            "call(torch.randn(1, 1024, 512))",
        ),
        "discrete_key_value_bottleneck_pytorch/DiscreteKeyValueBottleneck-2": Example(
            "discrete_key_value_bottleneck_pytorch vit_pytorch.extractor vit_pytorch",
            "DiscreteKeyValueBottleneck(encoder=Extractor(SimpleViT(image_size=256, "
            "patch_size=32, num_classes=1000, dim=512, depth=6, heads=16, mlp_dim=2048), "
            "return_embeddings_only=True), dim=512, num_memories=256, dim_memory=2048, decay=0.9)",
            "call(torch.randn(1, 3, 256, 256))",
        ),
    },
    "egnn-pytorch": {
        "egnn_pytorch/EGNN": Example(
            "egnn_pytorch",
            "EGNN(dim=512)",
            "call(torch.randn(1, 16, 512), torch.randn(1, 16, 3))",
        ),
        "egnn_pytorch/EGNN-2": Example(
            "egnn_pytorch",
            "EGNN(dim=512, edge_dim=4)",
            "call(torch.randn(1, 16, 512), torch.randn(1, 16, 3), torch.randn(1, 16, 16, 4))",
        ),
        "egnn_pytorch/EGNN_Network": Example(
            "egnn_pytorch",
            "EGNN_Network(num_tokens=21, num_positions=1024, dim=32, depth=3, "
            "num_nearest_neighbors=8, coor_weights_clamp_value=2.0)",
            "call(torch.randint(0, 21, (1, 1024)), torch.randn(1, 1024, 3), "
            "mask=torch.ones_like(torch.randint(0, 21, (1, 1024))).bool())",
        ),
        "egnn_pytorch/EGNN_Network-2": Example(
            "egnn_pytorch",
            "EGNN_Network(num_tokens=21, dim=32, depth=3, only_sparse_neighbors=True)",
            "call(torch.randint(0, 21, (1, 1024)), torch.randn(1, 1024, 3), "
            "mask=torch.ones_like(torch.randint(0, 21, (1, 1024))).bool(), "
            "adj_mat=(torch.arange(1024)[:, None] >= torch.arange(1024)[None, :] - 1) & "
            "(torch.arange(1024)[:, None] <= torch.arange(1024)[None, :] + 1))",
        ),
        "egnn_pytorch/EGNN_Network-3": Example(
            "egnn_pytorch",
            "EGNN_Network(num_tokens=21, dim=32, depth=3, num_adj_degrees=3, adj_dim=8, "
            "only_sparse_neighbors=True)",
            "call(torch.randint(0, 21, (1, 1024)), torch.randn(1, 1024, 3), "
            "mask=torch.ones_like(torch.randint(0, 21, (1, 1024))).bool(), "
            "adj_mat=(torch.arange(1024)[:, None] >= torch.arange(1024)[None, :] - 1) & "
            "(torch.arange(1024)[:, None] <= torch.arange(1024)[None, :] + 1))",
        ),
        "egnn_pytorch/EGNN_Network-4": Example(
            "egnn_pytorch",
            "EGNN_Network(num_tokens=21, dim=32, depth=3, edge_dim=4, num_nearest_neighbors=3)",
            "call(torch.randint(0, 21, (1, 1024)), torch.randn(1, 1024, 3), edges=torch.randn(1, "
            "1024, 1024, 4), mask=torch.ones_like(torch.randint(0, 21, (1, 1024))).bool(), "
            "adj_mat=(torch.arange(1024)[:, None] >= torch.arange(1024)[None, :] - 1) & "
            "(torch.arange(1024)[:, None] <= torch.arange(1024)[None, :] + 1))",
        ),
        "egnn_pytorch/EGNN_Network-5": Example(
            "egnn_pytorch",
            "EGNN_Network(num_tokens=21, dim=32, depth=3, num_nearest_neighbors=32, "
            "norm_coors=True, coor_weights_clamp_value=2.0)",
            "call(torch.randint(0, 21, (1, 1024)), torch.randn(1, 1024, 3), "
            "mask=torch.ones_like(torch.randint(0, 21, (1, 1024))).bool())",
        ),
    },
    "electra-pytorch": {
        "electra_pytorch/Electra": Example(
            "electra_pytorch reformer_pytorch",
            "Electra(ReformerLM(num_tokens=20000, emb_dim=128, dim=256, heads=4, ff_mult=2, "
            "dim_head=64, depth=12, max_seq_len=1024), ReformerLM(num_tokens=20000, emb_dim=128, "
            "dim=1024, dim_head=64, heads=16, depth=12, ff_mult=4, max_seq_len=1024), "
            "discr_dim=1024, discr_layer='reformer', mask_token_id=2, pad_token_id=0, "
            "mask_prob=0.15, mask_ignore_token_ids=[])",
            "call(torch.randint(0, 20000, (1, 1024)))",
        ),
        "electra_pytorch/Electra-2": Example(
            "electra_pytorch reformer_pytorch",
            "Electra(ReformerLM(num_tokens=20000, emb_dim=128, dim=256, heads=4, ff_mult=2, "
            "dim_head=64, depth=12, max_seq_len=1024), nn.Sequential(ReformerLM(num_tokens=20000, "
            "emb_dim=128, dim=1024, dim_head=64, heads=16, depth=12, ff_mult=4, max_seq_len=1024, "
            "return_embeddings=True), nn.Linear(1024, 1)), mask_token_id=2, pad_token_id=0, "
            "mask_prob=0.15, mask_ignore_token_ids=[])",
            "call(torch.randint(0, 20000, (1, 1024)))",
        ),
    },
    "esbn-pytorch": {
        "esbn_pytorch/ESBN": Example(
            "esbn_pytorch",
            "ESBN(value_dim=64, key_dim=64, hidden_dim=512, output_dim=4)",
            "call(torch.randn(3, 2, 3, 32, 32))",
        ),
    },
    "ETSformer-pytorch": {
        "etsformer_pytorch/ETSFormer": Example(
            "etsformer_pytorch",
            "ETSFormer(time_features=4, model_dim=512, embed_kernel_size=3, layers=2, heads=8, "
            "K=4, dropout=0.2)",
            "call(torch.randn(1, 1024, 4), num_steps_forecast=32)",
        ),
        "etsformer_pytorch/ETSFormer-2": Example(
            "etsformer_pytorch",
            "ETSFormer(time_features=1, model_dim=512, embed_kernel_size=3, layers=2, heads=8, "
            "K=4, dropout=0.2)",
        ),
        "etsformer_pytorch/ClassificationWrapper": Example(
            "etsformer_pytorch",
            "ClassificationWrapper(etsformer=ETSFormer(time_features=1, model_dim=512, "
            "embed_kernel_size=3, layers=2, heads=8, K=4, dropout=0.2), dim_head=32, heads=16, "
            "dropout=0.2, level_kernel_size=5, num_classes=10)",
            "call(torch.randn(1, 1024))",
        ),
    },
    "fast-transformer-pytorch": {
        "fast_transformer_pytorch/FastTransformer": Example(
            "fast_transformer_pytorch",
            "FastTransformer(num_tokens=20000, dim=512, depth=2, max_seq_len=4096, "
            "absolute_pos_emb=True)",
            "call(torch.randint(0, 20000, (1, 4096)), mask=torch.ones(1, 4096).bool())",
        ),
    },
    "feedback-transformer-pytorch": {
        "feedback_transformer_pytorch/FeedbackTransformer": Example(
            "feedback_transformer_pytorch",
            "FeedbackTransformer(num_tokens=20000, dim=512, depth=6, seq_len=2, mem_len=256, "
            "dim_head=64, heads=8, attn_dropout=0.1, ff_dropout=0.1)",
            "call(torch.randint(0, 20000, (2, 64)))",
        ),
        "feedback_transformer_pytorch/FeedbackTransformer-2": Example(
            "feedback_transformer_pytorch",
            "FeedbackTransformer(num_tokens=20000, dim=512, depth=6, seq_len=32, mem_len=256)",
            "call(torch.randint(0, 20000, (2, 32)), return_memory=True)",
        ),
    },
    "flamingo-pytorch": {
        "flamingo_pytorch/GatedCrossAttentionBlock": Example(
            "flamingo_pytorch",
            "GatedCrossAttentionBlock(dim=1024, dim_head=64, heads=8)",
            "call(torch.randn(1, 512, 1024), torch.randn(1, 2, 64, 1024), "
            "media_locations=torch.randint(0, 2, (1, 512)).bool())",
        ),
        "flamingo_pytorch/FlamingoPaLM": Example(
            "flamingo_pytorch vit_pytorch.extractor vit_pytorch.vit",
            "FlamingoPaLM(num_tokens=20000, dim=1024, depth=12, heads=8, dim_head=64, "
            "img_encoder=Extractor(ViT(image_size=256, patch_size=32, num_classes=1000, dim=1024, "
            "depth=6, heads=16, mlp_dim=2048, dropout=0.1, emb_dropout=0.1), "
            "return_embeddings_only=True), media_token_id=3, cross_attn_every=3, "
            "perceiver_num_latents=64, perceiver_depth=2)",
            "call(torch.randint(0, 20000, (2, 512)))",
        ),
    },
    "FLASH-pytorch": {
        "flash_pytorch/GAU": Example(
            "flash_pytorch",
            "GAU(dim=512, query_key_dim=128, causal=True, expansion_factor=2, "
            "laplace_attn_fn=True)",
            "call(torch.randn(1, 1024, 512))",
        ),
        "flash_pytorch/FLASH": Example(
            "flash_pytorch",
            "FLASH(dim=512, group_size=256, causal=True, query_key_dim=128, expansion_factor=2.0, "
            "laplace_attn_fn=True)",
            "call(torch.randn(1, 1111, 512))",
        ),
        "flash_pytorch/FLASHTransformer": Example(
            "flash_pytorch",
            "FLASHTransformer(num_tokens=20000, dim=512, depth=12, causal=True, group_size=256, "
            "query_key_dim=128, expansion_factor=2.0, norm_type='scalenorm', shift_tokens=True)",
            "call(torch.randint(0, 20000, (1, 1024)))",
        ),
    },
    "frame-averaging-pytorch": {
        "frame_averaging_pytorch/FrameAverage": Example(
            "frame_averaging_pytorch",
            "FrameAverage(torch.nn.Linear(3, 3), dim=3, stochastic=True)",
            "call(torch.randn(4, 1024, 3), frame_average_mask=torch.ones(4, 1024).bool())",
        ),
        "frame_averaging_pytorch/FrameAverage-2": Example(
            "frame_averaging_pytorch",
            "FrameAverage()",
            "call(torch.randn(4, 1024, 3), frame_average_mask=torch.ones(4, 1024).bool())",
        ),
    },
    "GAF-microbatch-pytorch": {
        "GAF_microbatch_pytorch/GAFWrapper": Example(
            "GAF_microbatch_pytorch",
            "GAFWrapper(nn.Sequential(nn.Linear(512, 256), nn.SiLU(), nn.Linear(256, 128)), "
            "filter_distance_thres=0.97)",
            "call(torch.randn(16, 1024, 512))",
        ),
    },
    "gated-state-spaces-pytorch": {
        "gated_state_spaces_pytorch/GSS": Example(
            "gated_state_spaces_pytorch",
            "GSS(dim=512, dim_expansion_factor=4, dss_kernel_N=512, dss_kernel_H=256)",
            "call(torch.randn(1, 65536, 512))",
        ),
        "gated_state_spaces_pytorch/GatedStateSpacesLM": Example(
            "gated_state_spaces_pytorch",
            "GatedStateSpacesLM(num_tokens=20000, depth=12, dim=512, dim_expansion_factor=4, "
            "dss_kernel_N=512, dss_kernel_H=256)",
            "call(torch.randint(0, 20000, (1, 1024)))",
        ),
    },
    "gateloop-transformer": {
        "gateloop_transformer/Transformer": Example(
            "gateloop_transformer",
            "Transformer(num_tokens=256, dim=624, depth=6, use_gate_looped_attn=True)",
            "call(torch.randint(0, 256, (1, 1024)))",
        ),
        "gateloop_transformer/SimpleGateLoopLayer": Example(
            "gateloop_transformer",
            "SimpleGateLoopLayer(512)",
            "call(torch.randn(1, 65536, 512))",
        ),
    },
    "geometric-vector-perceptron": {
        "geometric_vector_perceptron/GVPDropout": Example(
            "geometric_vector_perceptron",
            "GVPDropout(0.2)",
        ),
        "geometric_vector_perceptron/GVPLayerNorm": Example(
            "geometric_vector_perceptron",
            "GVPLayerNorm(512)",
        ),
    },
    "glom-pytorch": {
        "glom_pytorch/Glom": Example(
            "glom_pytorch",
            "Glom(dim=512, levels=6, image_size=224, patch_size=14)",
            "call(torch.randn(1, 3, 224, 224), iters=12)",
        ),
    },
    "gotennet-pytorch": {
        "gotennet_pytorch/GotenNet": Example(
            "gotennet_pytorch",
            "GotenNet(dim=256, max_degree=2, depth=1, heads=2, dim_head=32, "
            "dim_edge_refinement=256, return_coors=False)",
            "call(torch.randint(0, 14, (1, 12)), adj_mat=torch.randint(0, 2, (1, 12, 12)).bool(), "
            "coors=torch.randn(1, 12, 3))",
        ),
    },
    "gradnorm-pytorch": {
        "gradnorm_pytorch/MockNetworkWithMultipleLosses": Example(
            "gradnorm_pytorch",
            "MockNetworkWithMultipleLosses(dim=512, num_losses=4)",
            "call(torch.randn(2, 512))",
        ),
    },
    "graph-transformer-pytorch": {
        "graph_transformer_pytorch/GraphTransformer": Example(
            "graph_transformer_pytorch",
            "GraphTransformer(dim=256, depth=6, edge_dim=512, with_feedforwards=True, "
            "gated_residual=True, rel_pos_emb=True)",
            "call(torch.randn(1, 128, 256), torch.randn(1, 128, 128, 512), mask=torch.ones(1, "
            "128).bool())",
        ),
        "graph_transformer_pytorch/GraphTransformer-2": Example(
            "graph_transformer_pytorch",
            "GraphTransformer(dim=256, depth=6, edge_dim=512, with_feedforwards=True, "
            "gated_residual=True, rel_pos_emb=True, accept_adjacency_matrix=True)",
            "call(torch.randn(2, 128, 256), adj_mat=torch.randint(0, 2, (2, 128, 128)), "
            "mask=torch.ones(2, 128).bool())",
        ),
    },
    "gsa-pytorch": {
        "gsa_pytorch/GSA": Example(
            "gsa_pytorch",
            "GSA(dim=3, dim_out=64, dim_key=32, heads=8, rel_pos_length=256)",
            "call(torch.randn(1, 3, 256, 256))",
        ),
    },
    "h-transformer-1d": {
        "h_transformer_1d/HTransformer1D": Example(
            "h_transformer_1d",
            "HTransformer1D(num_tokens=256, dim=512, depth=12, causal=False, max_seq_len=8192, "
            "heads=8, dim_head=64, block_size=128, reversible=True, shift_tokens=True)",
            "call(torch.randint(0, 256, (1, 8000)), mask=torch.ones((1, 8000)).bool())",
        ),
    },
    "halonet-pytorch": {
        "halonet_pytorch/HaloAttention": Example(
            "halonet_pytorch",
            "HaloAttention(dim=512, block_size=8, halo_size=4, dim_head=64, heads=4)",
            "call(torch.randn(1, 512, 32, 32))",
        ),
    },
    "hamburger-pytorch": {
        "hamburger_pytorch/Hamburger": Example(
            "hamburger_pytorch",
            "Hamburger(dim=512, n=32 * 32, ratio=8, K=6)",
            "call(torch.randn(1, 512, 32, 32))",
        ),
    },
    "hl-gauss-pytorch": {
        "hl_gauss_pytorch/HLGaussLayer": Example(
            "hl_gauss_pytorch",
            "HLGaussLayer(dim=256, hl_gauss_loss=dict(min_value=0.0, max_value=5.0, num_bins=32, "
            "sigma=0.5))",
            "call(torch.randn(7, 256), torch.randint(0, 5, (7,)).float())",
        ),
    },
    "hourglass-transformer-pytorch": {
        "hourglass_transformer_pytorch/HourglassTransformerLM": Example(
            "hourglass_transformer_pytorch",
            "HourglassTransformerLM(num_tokens=256, dim=512, max_seq_len=1024, heads=8, "
            "dim_head=64, shorten_factor=2, depth=(4, 2, 4))",
            "call(torch.randint(0, 256, (1, 1024)))",
        ),
        "hourglass_transformer_pytorch/HourglassTransformerLM-2": Example(
            "hourglass_transformer_pytorch",
            "HourglassTransformerLM(num_tokens=256, dim=512, max_seq_len=1024, shorten_factor=(2, "
            "4), depth=(4, (2, 1, 2), 3))",
            "call(torch.randint(0, 256, (1, 1024)))",
        ),
        "hourglass_transformer_pytorch/HourglassTransformerLM-3": Example(
            "hourglass_transformer_pytorch",
            "HourglassTransformerLM(num_tokens=20000, dim=512, max_seq_len=1024, "
            "shorten_factor=2, depth=(4, 2, 4), causal=False)",
            "call(torch.randint(0, 256, (1, 1024)), mask=torch.ones((1, 1024)).bool())",
        ),
    },
    "htm-pytorch": {
        "htm_pytorch/HTMAttention": Example(
            "htm_pytorch",
            "HTMAttention(dim=512, heads=8, dim_head=64, topk_mems=8, mem_chunk_size=32, "
            "add_pos_enc=True)",
            "call(torch.randn(1, 128, 512), torch.randn(1, 20000, 512), mask=torch.ones(1, "
            "20000).bool())",
        ),
    },
    "infini-transformer-pytorch": {
        "infini_transformer_pytorch/InfiniTransformer": Example(
            "infini_transformer_pytorch",
            "InfiniTransformer(num_tokens=256, dim=512, depth=8, dim_head=128, heads=8, "
            "use_mem_delta_rule=True)",
            "call(torch.randint(0, 256, (1, 1024)), return_new_memories=False)",
        ),
        "infini_transformer_pytorch/InfiniTransformerWrapper": Example(
            "infini_transformer_pytorch",
            "InfiniTransformerWrapper(InfiniTransformer(num_tokens=256, dim=512, depth=8, "
            "dim_head=128, heads=8, use_mem_delta_rule=True), segment_length=512, "
            "detach_mems_every_num_segments=2)",
        ),
    },
    "invariant-point-attention": {
        "invariant_point_attention/InvariantPointAttention": Example(
            "invariant_point_attention einops",
            "InvariantPointAttention(dim=64, heads=8, scalar_key_dim=16, scalar_value_dim=16, "
            "point_key_dim=4, point_value_dim=4)",
            "call(torch.randn(1, 256, 64), torch.randn(1, 256, 256, 64), "
            "rotations=repeat(torch.eye(3), '... -> b n ...', b=1, n=256), "
            "translations=torch.zeros(1, 256, 3), mask=torch.ones(1, 256).bool())",
        ),
        "invariant_point_attention/InvariantPointAttention-2": Example(
            "invariant_point_attention einops",
            "InvariantPointAttention(dim=64, heads=8, require_pairwise_repr=False)",
            "call(torch.randn(1, 256, 64), rotations=repeat(torch.eye(3), '... -> b n ...', b=1, "
            "n=256), translations=torch.randn(1, 256, 3), mask=torch.ones(1, 256).bool())",
        ),
        "invariant_point_attention/IPABlock": Example(
            "invariant_point_attention einops",
            "IPABlock(dim=64, heads=8, scalar_key_dim=16, scalar_value_dim=16, point_key_dim=4, "
            "point_value_dim=4)",
            "call(torch.randn(1, 256, 64), pairwise_repr=torch.randn(1, 256, 256, 64), "
            "rotations=repeat(torch.eye(3), 'r1 r2 -> b n r1 r2', b=1, n=256), "
            "translations=torch.randn(1, 256, 3), mask=torch.ones(1, 256).bool())",
        ),
    },
    "isab-pytorch": {
        "isab_pytorch/ISAB": Example(
            "isab_pytorch",
            "ISAB(dim=512, heads=8, num_latents=128, latent_self_attend=True)",
            "call(torch.randn(1, 16384, 512), mask=torch.ones((1, 16384)).bool())",
        ),
        "isab_pytorch/ISAB-2": Example(
            "isab_pytorch",
            "ISAB(dim=512, heads=8)",
            "call(torch.randn(1, 16384, 512), torch.nn.Parameter(torch.randn(128, 512)))",
        ),
        "isab_pytorch/ISAB-3": Example(
            "isab_pytorch",
            "ISAB(dim=512, heads=8, num_latents=128, inverted_attention=True)",
            "call(torch.randn(1, 16384, 512), mask=torch.ones((1, 16384)).bool())",
        ),
    },
    "ITTR-pytorch": {
        "ITTR_pytorch/HPB": Example(
            "ITTR_pytorch",
            "HPB(dim=512, dim_head=32, heads=8, attn_height_top_k=16, attn_width_top_k=16, "
            "attn_dropout=0.0, ff_mult=4, ff_dropout=0.0)",
            "call(torch.randn(1, 512, 32, 32))",
        ),
    },
    "lambda-networks": {
        "lambda_networks/LambdaLayer-2": Example(
            "lambda_networks",
            "LambdaLayer(dim=32, dim_out=32, r=23, dim_k=16, heads=4, dim_u=4)",
            "call(torch.randn(1, 32, 64, 64))",
        ),
    },
    "lie-transformer-pytorch": {
        "lie_transformer_pytorch/LieTransformer": Example(
            "lie_transformer_pytorch",
            "LieTransformer(dim=512, depth=2, heads=8, dim_head=64, liftsamples=4)",
            "call(torch.randn(1, 64, 512), torch.randn(1, 64, 3), mask=torch.ones(1, 64).bool())",
        ),
        "lie_transformer_pytorch/LieTransformer-2": Example(
            "lie_transformer_pytorch",
            "LieTransformer(num_tokens=28, dim=512, depth=2, heads=8, dim_head=64, liftsamples=4)",
            "call(torch.randint(0, 28, (1, 64)), torch.randn(1, 64, 3), mask=torch.ones(1, "
            "64).bool())",
        ),
        "lie_transformer_pytorch/LieTransformer-3": Example(
            "lie_transformer_pytorch",
            "LieTransformer(num_tokens=28, num_edge_types=4, edge_dim=16, dim=512, depth=2, "
            "heads=8, dim_head=64, liftsamples=4)",
            "call(torch.randint(0, 28, (1, 64)), torch.randn(1, 64, 3), edges=torch.randint(0, 4, "
            "(1, 64, 64)), mask=torch.ones(1, 64).bool())",
        ),
    },
    "light-recurrent-unit-pytorch": {
        "light_recurrent_unit_pytorch/LightRecurrentUnitCell": Example(
            "light_recurrent_unit_pytorch",
            "LightRecurrentUnitCell(256)",
            "call(torch.randn(2, 256), torch.randn(2, 256))",
        ),
        "light_recurrent_unit_pytorch/LightRecurrentUnitLayer": Example(
            "light_recurrent_unit_pytorch",
            "LightRecurrentUnitLayer(256)",
            "call(torch.randn(2, 1024, 256))",
        ),
        "light_recurrent_unit_pytorch/LightRecurrentUnit": Example(
            "light_recurrent_unit_pytorch",
            "LightRecurrentUnit(256, depth=4)",
            "call(torch.randn(2, 1024, 256))",
        ),
        "light_recurrent_unit_pytorch/LightRecurrentUnit-2": Example(
            "light_recurrent_unit_pytorch",
            "LightRecurrentUnit(256, depth=4, heads=4)",
            "call(torch.randn(2, 1024, 256))",
        ),
    },
    "linear-attention-transformer": {
        "linear_attention_transformer/LinearAttentionTransformer": Example(
            "linear_attention_transformer",
            "LinearAttentionTransformer(dim=512, heads=8, depth=1, max_seq_len=8192, "
            "n_local_attn_heads=4)",
            "call(torch.randn(1, 8192, 512))",
        ),
        "linear_attention_transformer.images/ImageLinearAttention": Example(
            "linear_attention_transformer.images",
            "ImageLinearAttention(chan=32, heads=8, key_dim=64)",
            "call(torch.randn(1, 32, 256, 256))",
        ),
    },
    "linformer": {
        "linformer/LinformerLM": Example(
            "linformer",
            "LinformerLM(num_tokens=20000, dim=512, seq_len=4096, depth=12, heads=8, "
            "dim_head=128, k=256, one_kv_head=True, share_kv=False, reversible=True)",
            "call(torch.randint(0, 20000, (1, 4096)))",
        ),
        "linformer/Linformer": Example(
            "linformer",
            "Linformer(dim=512, seq_len=4096, depth=12, heads=8, k=256, one_kv_head=True, "
            "share_kv=True)",
            "call(torch.randn(1, 4096, 512))",
        ),
        "linformer/LinformerSelfAttention": Example(
            "linformer",
            "LinformerSelfAttention(dim=512, seq_len=4096, heads=8, k=256, one_kv_head=True, "
            "share_kv=True)",
            "call(torch.randn(1, 4096, 512))",
        ),
        "linformer/LinformerSelfAttention-2": Example(
            "linformer",
            "LinformerSelfAttention(dim=512, seq_len=8192, heads=8, k=256, one_kv_head=True, "
            "share_kv=True)",
            "call(torch.randn(1, 2048, 512), torch.randn(1, 8192, 512))",
        ),
    },
    "local-attention": {
        "local_attention/LocalAttention": Example(
            "local_attention",
            "LocalAttention(dim=64, window_size=512, causal=True, look_backward=1, "
            "look_forward=0, dropout=0.1, exact_windowsize=False)",
            "call(torch.randn(2, 8, 2048, 64), torch.randn(2, 8, 2048, 64), torch.randn(2, 8, "
            "2048, 64), mask=torch.ones(2, 2048).bool())",
        ),
        "local_attention/LocalAttention-2": Example(
            "local_attention",
            "LocalAttention(dim=64, window_size=512, shared_qk=True, causal=True)",
            "call(torch.randn(2, 8, 2048, 64), torch.randn(2, 8, 2048, 64), torch.randn(2, 8, "
            "2048, 64), mask=torch.ones(2, 2048).bool())",
        ),
        "local_attention/LocalAttention-3": Example(
            "local_attention",
            "LocalAttention(window_size=512, causal=True, autopad=True)",
            "call(torch.randn(8, 2057, 64), torch.randn(8, 2057, 64), torch.randn(8, 2057, 64), "
            "mask=torch.ones(1, 2057).bool())",
        ),
        "local_attention/LocalTransformer": Example(
            "local_attention",
            "LocalTransformer(num_tokens=256, dim=512, depth=6, max_seq_len=8192, causal=True, "
            "local_attn_window_size=256)",
            "call(torch.randint(0, 256, (1, 8192)))",
        ),
    },
    "lvsm-pytorch": {
        "lvsm_pytorch/CameraWrapper": Example(
            "lvsm_pytorch",
            "CameraWrapper(LVSM(dim=512, max_image_size=256, patch_size=32, channels=4, depth=2))",
            "call(input_intrinsic_rotation=torch.randn(2, 4, 3, 3), "
            "input_extrinsic_rotation=torch.randn(2, 4, 3, 3), input_translation=torch.randn(2, "
            "4, 3), input_uniform_points=torch.randn(2, 4, 3, 256, 256), "
            "target_intrinsic_rotation=torch.randn(2, 3, 3), "
            "target_extrinsic_rotation=torch.randn(2, 3, 3), target_translation=torch.randn(2, "
            "3), target_uniform_points=torch.randn(2, 3, 256, 256), input_images=torch.randn(2, "
            "4, 4, 256, 256), target_images=torch.randn(2, 4, 256, 256))",
        ),
        "lvsm_pytorch/MAE": Example(
            "lvsm_pytorch",
            "MAE(lvsm=LVSM(dim=512, max_image_size=256, patch_size=32, channels=4, depth=2, "
            "dropout_input_ray_prob=0.5), frac_masked=0.5, frac_images_to_ray_masked=0.5, "
            "image_to_ray_loss_weight=1.0)",
            "call(torch.randn(2, 4, 4, 256, 256), torch.randn(2, 4, 6, 256, 256))",
        ),
        "lvsm_pytorch.lvsm/MAECameraWrapper": Example(
            "lvsm_pytorch.lvsm",
            "MAECameraWrapper(MAE(LVSM(dim=512, max_image_size=256, patch_size=32, channels=4, "
            "depth=2)))",
            "call(intrinsic_rotation=torch.randn(2, 4, 3, 3), extrinsic_rotation=torch.randn(2, "
            "4, 3, 3), translation=torch.randn(2, 4, 3), uniform_points=torch.randn(2, 4, 3, 256, "
            "256), images=torch.randn(2, 4, 4, 256, 256))",
        ),
    },
    "make-a-video-pytorch": {
        "make_a_video_pytorch/PseudoConv3d": Example(
            "make_a_video_pytorch",
            "PseudoConv3d(dim=256, kernel_size=3)",
            "call(torch.randn(1, 256, 8, 16, 16))",
        ),
        "make_a_video_pytorch/SpatioTemporalAttention": Example(
            "make_a_video_pytorch",
            "SpatioTemporalAttention(dim=256, dim_head=64, heads=8)",
            "call(torch.randn(1, 256, 8, 16, 16))",
        ),
        "make_a_video_pytorch/SpaceTimeUnet": Example(
            "make_a_video_pytorch",
            "SpaceTimeUnet(dim=64, channels=3, dim_mult=(1, 2, 4, 8), resnet_block_depths=(1, 1, "
            "1, 2), temporal_compression=(False, False, False, True), self_attns=(False, False, "
            "False, True), condition_on_timestep=False, attn_pos_bias=False, flash_attn=True)",
            "call(torch.randn(1, 3, 128, 128))",
        ),
    },
    "MaMMUT-pytorch": {
        "mammut_pytorch.mammut_pytorch/MaMMUT": Example(
            "mammut_pytorch.mammut_pytorch vit_pytorch.extractor "
            "vit_pytorch.simple_vit_with_patch_dropout",
            "MaMMUT(dim=512, img_encoder=Extractor(SimpleViT(image_size=256, patch_size=32, "
            "num_classes=1000, dim=1024, depth=6, heads=16, mlp_dim=2048, patch_dropout=0.5), "
            "return_embeddings_only=True, detach=False), image_dim=1024, num_tokens=20000, "
            "depth=6, dim_head=64, heads=8, caption_loss_weight=1.0, contrastive_loss_weight=1.0)",
            "call(text=torch.randint(0, 20000, (4, 512)), images=torch.randn(4, 3, 256, 256), "
            "return_loss=True)",
        ),
    },
    "mean-conc-beta": {
        "mean_conc_beta/Beta": Example(
            "mean_conc_beta",
            "Beta()",
            "call(torch.randn(16, 4, 2, requires_grad=True))",
        ),
        "mean_conc_beta/Beta-4": Example(
            "mean_conc_beta",
            "Beta(squash_fn='softsign')",
        ),
    },
    "med-seg-diff-pytorch": {
        "med_seg_diff_pytorch/Unet": Example(
            "med_seg_diff_pytorch",
            "Unet(dim=64, image_size=128, mask_channels=1, input_img_channels=3, dim_mults=(1, 2, "
            "4, 8))",
        ),
        "med_seg_diff_pytorch/MedSegDiff": Example(
            "med_seg_diff_pytorch",
            "MedSegDiff(Unet(dim=64, image_size=128, mask_channels=1, input_img_channels=3, "
            "dim_mults=(1, 2, 4, 8)), timesteps=1000)",
            "call(torch.rand(8, 1, 128, 128), torch.rand(8, 3, 128, 128))",
        ),
    },
    "Mega-pytorch": {
        "mega_pytorch/MegaLayer": Example(
            "mega_pytorch",
            "MegaLayer(dim=128, ema_heads=16, attn_dim_qk=64, attn_dim_value=256, "
            "laplacian_attn_fn=False)",
            "call(torch.randn(1, 1024, 128))",
        ),
        "mega_pytorch/Mega": Example(
            "mega_pytorch",
            "Mega(num_tokens=256, dim=128, depth=6, ema_heads=16, attn_dim_qk=64, "
            "attn_dim_value=256, laplacian_attn_fn=True)",
            "call(torch.randint(0, 256, (1, 1024)))",
        ),
    },
    "MEGABYTE-pytorch": {
        "MEGABYTE_pytorch/MEGABYTE": Example(
            "MEGABYTE_pytorch",
            "MEGABYTE(num_tokens=16000, dim=(512, 256), max_seq_len=(1024, 4), depth=(6, 4), "
            "dim_head=64, heads=8, flash_attn=True)",
            "call(torch.randint(0, 16000, (1, 1024, 4)), return_loss=True)",
        ),
    },
    "memformer": {
        "memformer/Memformer": Example(
            "memformer",
            "Memformer(dim=512, enc_num_tokens=256, enc_depth=2, enc_heads=8, "
            "enc_max_seq_len=1024, dec_num_tokens=256, dec_depth=2, dec_heads=8, "
            "dec_max_seq_len=1024, num_memory_slots=128)",
            "call(torch.randint(0, 256, (1, 1024)))",
        ),
        "memformer/Memformer-2": Example(
            "memformer",
            "Memformer(dim=512, enc_num_tokens=256, enc_heads=8, enc_depth=2, "
            "enc_max_seq_len=1024, num_memory_slots=128, num_mem_updates=2, encoder_only=True)",
            "call(torch.randint(0, 256, (1, 1024)))",
        ),
    },
    "memory-compressed-attention": {
        "memory_compressed_attention/MemoryCompressedAttention": Example(
            "memory_compressed_attention",
            "MemoryCompressedAttention(dim=512, heads=8, causal=False, compression_factor=3, "
            "dropout=0.1)",
            "call(torch.randn(1, 1024, 512), input_mask=torch.ones(1, 1024).bool())",
        ),
    },
    "memory-efficient-attention-pytorch": {
        "memory_efficient_attention_pytorch/Attention": Example(
            "memory_efficient_attention_pytorch",
            "Attention(dim=512, dim_head=64, heads=8, causal=True, memory_efficient=True, "
            "q_bucket_size=1024, k_bucket_size=2048)",
            "call(torch.randn(1, 65536, 512))",
        ),
        "memory_efficient_attention_pytorch/Attention-2": Example(
            "memory_efficient_attention_pytorch",
            "Attention(dim=512, dim_head=64, heads=8, memory_efficient=True, q_bucket_size=1024, "
            "k_bucket_size=2048)",
            "call(torch.randn(1, 65536, 512), context=torch.randn(1, 65536, 512), "
            "mask=torch.ones(1, 65536).bool())",
        ),
    },
    "memory-transformer-xl": {
        "memory_transformer_xl/MemoryTransformerXL": Example(
            "memory_transformer_xl",
            "MemoryTransformerXL(num_tokens=20000, dim=1024, heads=8, depth=8, seq_len=512, "
            "mem_len=256, lmem_len=256, mem_write_iters=2, memory_layers=[6, 7, 8], "
            "num_mem_kv=128)",
            "call(torch.randint(0, 20000, (1, 512)))",
        ),
    },
    "meshgpt-pytorch": {
        "meshgpt_pytorch/MeshAutoencoder": Example(
            "meshgpt_pytorch",
            "MeshAutoencoder(num_discrete_coors=128)",
            "call(vertices=torch.randn((2, 121, 3)), faces=torch.randint(0, 121, (2, 64, 3)))",
        ),
        "meshgpt_pytorch/MeshTransformer": Example(
            "meshgpt_pytorch",
            "MeshTransformer(MeshAutoencoder(num_discrete_coors=128), dim=512, max_seq_len=768)",
            "call(vertices=torch.randn((2, 121, 3)), faces=torch.randint(0, 121, (2, 64, 3)))",
        ),
    },
    "metacontroller-pytorch": {
        "metacontroller/Transformer": Example(
            "metacontroller",
            "Transformer(dim=512, action_embed_readout=dict(num_discrete=4), "
            "state_embed_readout=dict(num_continuous=384), lower_body=dict(depth=2), "
            "upper_body=dict(depth=2))",
            "call(torch.randn(2, 128, 384), torch.randint(0, 4, (2, 128)))",
        ),
        "metacontroller/MetaController": Example(
            "metacontroller",
            "MetaController(dim_model=512, dim_meta_controller=256, dim_latent=128)",
        ),
    },
    "mixture-of-attention": {
        "mixture_of_attention/MixtureOfAttention": Example(
            "mixture_of_attention",
            "MixtureOfAttention(dim=512, dim_context=256, num_routed_queries=16, "
            "num_routed_key_values=16, num_experts=2, dim_head=64, heads=8)",
            "call(torch.randn(1, 1024, 512), context=torch.randn(1, 512, 256), "
            "mask=torch.ones((1, 1024)).bool())",
        ),
        "mixture_of_attention/MixtureOfAutoregressiveAttention": Example(
            "mixture_of_attention",
            "MixtureOfAutoregressiveAttention(dim=512, local_attn_window_size=64, "
            "routed_window_size=None, num_routed_queries=12, num_routed_key_values=12, "
            "num_experts=2, dim_head=64, heads=8)",
            "call(torch.randn(1, 1023, 512))",
        ),
    },
    "mixture-of-experts": {
        "mixture_of_experts/MoE": Example(
            "mixture_of_experts",
            "MoE(dim=512, num_experts=16, hidden_dim=512 * 4, activation=nn.LeakyReLU, "
            "second_policy_train='random', second_policy_eval='random', "
            "second_threshold_train=0.2, second_threshold_eval=0.2, capacity_factor_train=1.25, "
            "capacity_factor_eval=2.0, loss_coef=0.01)",
            "call(torch.randn(4, 1024, 512))",
        ),
        "mixture_of_experts/HeirarchicalMoE": Example(
            "mixture_of_experts",
            "HeirarchicalMoE(dim=512, num_experts=(4, 4))",
            "call(torch.randn(4, 1024, 512))",
        ),
        "mixture_of_experts/HeirarchicalMoE-2": Example(
            "mixture_of_experts",
            "HeirarchicalMoE(dim=512, num_experts=(22, 22))",
            "call(torch.randn(1, 1024, 512))",
        ),
        "mixture_of_experts/MoE-2": Example(
            "mixture_of_experts",
            "MoE(dim=512, num_experts=16, experts=Experts(512, num_experts=16))",
            "call(torch.randn(4, 1024, 512))",
        ),
    },
    "mlm-pytorch": {
        "mlm_pytorch/MLM": Example(
            "mlm_pytorch x_transformers",
            "MLM(TransformerWrapper(num_tokens=20000, max_seq_len=1024, "
            "attn_layers=Encoder(dim=512, depth=6, heads=8)), mask_token_id=2, pad_token_id=0, "
            "mask_prob=0.15, replace_prob=0.9, mask_ignore_token_ids=[])",
            "call(torch.randint(0, 20000, (8, 1024)))",
        ),
    },
    "mlp-mixer-pytorch": {
        "mlp_mixer_pytorch/MLPMixer": Example(
            "mlp_mixer_pytorch",
            "MLPMixer(image_size=256, channels=3, patch_size=16, dim=512, depth=12, "
            "num_classes=1000)",
            "call(torch.randn(1, 3, 256, 256))",
        ),
        "mlp_mixer_pytorch/MLPMixer-2": Example(
            "mlp_mixer_pytorch",
            "MLPMixer(image_size=(256, 128), channels=3, patch_size=16, dim=512, depth=12, "
            "num_classes=1000)",
            "call(torch.randn(1, 3, 256, 128))",
        ),
        "mlp_mixer_pytorch/MLPMixer3D": Example(
            "mlp_mixer_pytorch",
            "MLPMixer3D(image_size=(256, 128), time_size=4, time_patch_size=2, channels=3, "
            "patch_size=16, dim=512, depth=12, num_classes=1000)",
            "call(torch.randn(1, 3, 4, 256, 128))",
        ),
    },
    "mmdit": {
        "mmdit/MMDiTBlock": Example(
            "mmdit",
            "MMDiTBlock(dim_cond=256, dim_text=768, dim_image=512, qk_rmsnorm=True)",
            "call(time_cond=torch.randn(2, 256), text_tokens=torch.randn(2, 512, 768), "
            "text_mask=torch.ones((2, 512)).bool(), image_tokens=torch.randn(2, 1024, 512))",
        ),
        "mmdit.mmdit_generalized_pytorch/MMDiT": Example(
            "mmdit.mmdit_generalized_pytorch",
            "MMDiT(depth=2, dim_modalities=(768, 512, 384), dim_cond=256, qk_rmsnorm=True)",
            "call(modality_tokens=(torch.randn(2, 512, 768), torch.randn(2, 1024, 512), "
            "torch.randn(2, 256, 384)), modality_masks=(torch.ones((2, 512)).bool(), None, None), "
            "time_cond=torch.randn(2, 256))",
        ),
    },
    "mogrifier": {
        "mogrifier/Mogrifier": Example(
            "mogrifier",
            "Mogrifier(dim=512, dim_hidden=256, iters=5, factorize_k=16)",
            "call(torch.randn(1, 16, 512), torch.randn(1, 16, 256))",
        ),
    },
    "molecule-attention-transformer": {
        "molecule_attention_transformer/MAT": Example(
            "molecule_attention_transformer",
            "MAT(dim_in=26, model_dim=512, dim_out=1, depth=6, Lg=0.5, Ld=0.5, La=1, "
            "dist_kernel_fn='exp')",
            "call(torch.randn(2, 100, 26), mask=torch.ones(2, 100).bool(), "
            "adjacency_mat=torch.empty(2, 100, 100).random_(2).float(), "
            "distance_mat=torch.randn(2, 100, 100))",
        ),
    },
    "multistream-transformers": {
        "multistream_transformers/MultistreamTransformer": Example(
            "multistream_transformers",
            "MultistreamTransformer(num_tokens=256, dim=512, depth=4, causal=True, "
            "max_seq_len=1024, num_streams=2)",
            "call(torch.randint(0, 256, (2, 1024)), mask=torch.ones((2, 1024)).bool())",
        ),
    },
    "muse-maskgit-pytorch": {
        "muse_maskgit_pytorch/VQGanVAE": Example(
            "muse_maskgit_pytorch",
            "VQGanVAE(dim=256, codebook_size=65536)",
        ),
    },
    "n-grammer-pytorch": {
        "n_grammer_pytorch/VQNgrammer": Example(
            "n_grammer_pytorch",
            "VQNgrammer(num_clusters=1024, dim_per_head=32, num_heads=16, ngram_vocab_size=768 * "
            "256, ngram_emb_dim=16, decay=0.999)",
            "call(torch.randn(1, 1024, 32 * 16))",
        ),
    },
    "native-sparse-attention-pytorch": {
        "native_sparse_attention_pytorch/SparseAttention": Example(
            "native_sparse_attention_pytorch",
            "SparseAttention(dim=512, dim_head=64, heads=8, sliding_window_size=2, "
            "compress_block_size=4, compress_block_sliding_stride=2, selection_block_size=4, "
            "num_selected_blocks=2)",
            "call(torch.randn(2, 31, 512))",
        ),
    },
    "nwt-pytorch": {
        "nwt_pytorch/Memcodes": Example(
            "nwt_pytorch",
            "Memcodes(dim=512, heads=8, num_codes=1024, temperature=1.0)",
            "call(torch.randn(1, 1024, 512))",
        ),
    },
    "nystrom-attention": {
        "nystrom_attention/NystromAttention": Example(
            "nystrom_attention",
            "NystromAttention(dim=512, dim_head=64, heads=8, num_landmarks=256, "
            "pinv_iterations=6, residual=True)",
            "call(torch.randn(1, 16384, 512), mask=torch.ones(1, 16384).bool())",
        ),
        "nystrom_attention/Nystromformer": Example(
            "nystrom_attention",
            "Nystromformer(dim=512, dim_head=64, heads=8, depth=6, num_landmarks=256, "
            "pinv_iterations=6)",
            "call(torch.randn(1, 16384, 512), mask=torch.ones(1, 16384).bool())",
        ),
    },
    "omninet-pytorch": {
        "omninet_pytorch/Omninet": Example(
            "omninet_pytorch",
            "Omninet(dim=512, depth=6, dim_head=64, heads=8, pool_layer_tokens_every=3, "
            "attn_dropout=0.1, ff_dropout=0.1, feature_redraw_interval=1000)",
            "call(torch.randn(1, 1024, 512), mask=torch.ones(1, 1024).bool())",
        ),
        "omninet_pytorch/OmninetCausal": Example(
            "omninet_pytorch",
            "OmninetCausal(dim=512, depth=6, dim_head=64, heads=8, pool_layer_tokens_every=3, "
            "attn_dropout=0.1, ff_dropout=0.1)",
            "call(torch.randn(1, 1024, 512), mask=torch.ones(1, 1024).bool())",
        ),
    },
    "PaLM-pytorch": {
        "palm_pytorch/PaLM": Example(
            "palm_pytorch",
            "PaLM(num_tokens=20000, dim=512, depth=12, heads=8, dim_head=64)",
            "call(torch.randint(0, 20000, (1, 2048)))",
        ),
    },
    "PaLM-rlhf-pytorch": {
        "palm_rlhf_pytorch/PaLM": Example(
            "palm_rlhf_pytorch",
            "PaLM(num_tokens=20000, dim=512, depth=12, flash_attn=True)",
            "call(torch.randint(0, 20000, (1, 2048)), return_loss=True)",
        ),
        "palm_rlhf_pytorch/RewardModel": Example(
            "palm_rlhf_pytorch",
            "RewardModel(PaLM(num_tokens=20000, dim=512, depth=12, causal=False), "
            "num_binned_output=5)",
            "call(torch.randint(0, 20000, (1, 1024)), prompt_mask=torch.zeros(1, 1024).bool(), "
            "labels=torch.randint(0, 5, (1,)))",
        ),
        "palm_rlhf_pytorch/RewardModel-2": Example(
            "palm_rlhf_pytorch",
            "RewardModel(PaLM(num_tokens=20000, dim=512, depth=12), num_binned_output=5)",
        ),
    },
    "PEER-pytorch": {
        "PEER_pytorch/PEER": Example(
            "PEER_pytorch",
            "PEER(dim=512, heads=8, num_experts=1000000, num_experts_per_head=16, dim_key=128, "
            "pre_rmsnorm=True)",
            "call(torch.randn(2, 1024, 512))",
        ),
    },
    "perceiver-pytorch": {
        "perceiver_pytorch/Perceiver": Example(
            "perceiver_pytorch",
            "Perceiver(input_channels=3, input_axis=2, num_freq_bands=6, max_freq=10.0, depth=6, "
            "num_latents=256, latent_dim=512, cross_heads=1, latent_heads=8, cross_dim_head=64, "
            "latent_dim_head=64, num_classes=1000, attn_dropout=0.0, ff_dropout=0.0, "
            "weight_tie_layers=False, fourier_encode_data=True, self_per_cross_attn=2)",
            "call(torch.randn(1, 224, 224, 3))",
        ),
        "perceiver_pytorch/PerceiverIO": Example(
            "perceiver_pytorch",
            "PerceiverIO(dim=32, queries_dim=32, logits_dim=100, depth=6, num_latents=256, "
            "latent_dim=512, cross_heads=1, latent_heads=8, cross_dim_head=64, "
            "latent_dim_head=64, weight_tie_layers=False, seq_dropout_prob=0.2)",
            "call(torch.randn(1, 512, 32), queries=torch.randn(128, 32))",
        ),
        "perceiver_pytorch/PerceiverBlock": Example(
            "perceiver_pytorch",
            "PerceiverBlock(dim=96, context_dim=96, cross_heads=1, latent_heads=8, "
            "cross_dim_head=64, latent_dim_head=64, queries_contribute_kv=True)",
            "call(torch.randn(2, 9, 96), context=torch.randn(2, 187, 96), mask=torch.ones(2, "
            "187).bool())",
        ),
        "perceiver_pytorch/PerceiverLM": Example(
            "perceiver_pytorch",
            "PerceiverLM(num_tokens=20000, dim=32, depth=6, max_seq_len=2048, num_latents=256, "
            "latent_dim=512, cross_heads=1, latent_heads=8, cross_dim_head=64, "
            "latent_dim_head=64, weight_tie_layers=False)",
            "call(torch.randint(0, 20000, (1, 512)), mask=torch.ones(1, 512).bool())",
        ),
    },
    "performer-pytorch": {
        "performer_pytorch/PerformerLM": Example(
            "performer_pytorch",
            "PerformerLM(num_tokens=20000, max_seq_len=2048, dim=512, depth=12, heads=8, "
            "causal=False, nb_features=256, feature_redraw_interval=1000, "
            "generalized_attention=False, kernel_fn=torch.nn.ReLU(), reversible=True, "
            "ff_chunks=10, use_scalenorm=False, use_rezero=False, ff_glu=True, emb_dropout=0.1, "
            "ff_dropout=0.1, attn_dropout=0.1, local_attn_heads=4, local_window_size=256, "
            "rotary_position_emb=True, shift_tokens=True)",
            "call(torch.randint(0, 20000, (1, 2048)), mask=torch.ones_like(torch.randint(0, "
            "20000, (1, 2048))).bool())",
        ),
        "performer_pytorch/PerformerEncDec": Example(
            "performer_pytorch",
            "PerformerEncDec(dim=512, tie_token_embed=True, enc_num_tokens=20000, enc_depth=6, "
            "enc_heads=8, enc_max_seq_len=4096, dec_num_tokens=20000, dec_depth=6, dec_heads=8, "
            "dec_max_seq_len=4096)",
            "call(torch.randint(0, 20000, (1, 4096)), torch.randint(0, 20000, (1, 4096)), "
            "enc_mask=torch.ones_like(torch.randint(0, 20000, (1, 4096))).bool(), "
            "dec_mask=torch.ones_like(torch.randint(0, 20000, (1, 4096))).bool())",
        ),
        "performer_pytorch/SelfAttention": Example(
            "performer_pytorch",
            "SelfAttention(dim=512, heads=8, causal=False)",
            "call(torch.randn(1, 1024, 512))",
        ),
        "performer_pytorch/FastAttention": Example(
            "performer_pytorch",
            "FastAttention(dim_heads=64, nb_features=256, causal=False)",
            "call(torch.randn(1, 8, 512, 64), torch.randn(1, 8, 512, 64), torch.randn(1, 8, 512, "
            "64))",
        ),
    },
    "perfusion-pytorch": {
        "perfusion_pytorch/Rank1EditModule": Example(
            "perfusion_pytorch",
            "Rank1EditModule(nn.Linear(768, 320, bias=False), is_key_proj=True)",
            "call(torch.randn(4, 77, 768), concept_indices=torch.randint(0, 77, (4,)), "
            "text_enc_with_superclass=torch.randn(4, 77, 768))",
        ),
    },
    "point-transformer-pytorch": {
        "point_transformer_pytorch/PointTransformerLayer": Example(
            "point_transformer_pytorch",
            "PointTransformerLayer(dim=128, pos_mlp_hidden_dim=64, attn_mlp_hidden_mult=4)",
            "call(torch.randn(1, 16, 128), torch.randn(1, 16, 3), mask=torch.ones(1, 16).bool())",
        ),
        "point_transformer_pytorch/PointTransformerLayer-2": Example(
            "point_transformer_pytorch",
            "PointTransformerLayer(dim=128, pos_mlp_hidden_dim=64, attn_mlp_hidden_mult=4, "
            "num_neighbors=16)",
            "call(torch.randn(1, 2048, 128), torch.randn(1, 2048, 3), mask=torch.ones(1, "
            "2048).bool())",
        ),
    },
    "ponder-transformer": {
        "ponder_transformer/PonderTransformer": Example(
            "ponder_transformer",
            "PonderTransformer(num_tokens=20000, dim=512, max_seq_len=512)",
            "call(torch.randint(0, 20000, (1, 512)), labels=torch.randint(0, 20000, (1, 512)), "
            "mask=torch.ones(1, 512).bool())",
        ),
    },
    "PoPE-pytorch": {
        "PoPE_pytorch/PoPE": Example(
            "PoPE_pytorch",
            "PoPE(64, heads=8)",
        ),
    },
    "product_key_memory": {
        "product_key_memory/PKM": Example(
            "product_key_memory",
            "PKM(dim=512, heads=4, dim_head=128, num_keys=256, topk=32)",
            "call(torch.randn(1, 1024, 512), input_mask=torch.ones((1, 1024)).bool())",
        ),
    },
    "protein-bert-pytorch": {
        "protein_bert_pytorch/ProteinBERT": Example(
            "protein_bert_pytorch",
            "ProteinBERT(num_tokens=21, num_annotation=8943, dim=512, dim_global=256, depth=6, "
            "narrow_conv_kernel=9, wide_conv_kernel=9, wide_conv_dilation=5, attn_heads=8, "
            "attn_dim_head=64)",
            "call(torch.randint(0, 21, (2, 2048)), torch.randint(0, 1, (2, 8943)).float(), "
            "mask=torch.ones(2, 2048).bool())",
        ),
        "protein_bert_pytorch/ProteinBERT-2": Example(
            "protein_bert_pytorch",
            "ProteinBERT(num_tokens=21, num_annotation=8943, dim=512, dim_global=256, depth=6, "
            "narrow_conv_kernel=9, wide_conv_kernel=9, wide_conv_dilation=5, attn_heads=8, "
            "attn_dim_head=64, local_to_global_attn=False, local_self_attn=True, "
            "num_global_tokens=2, glu_conv=False)",
        ),
        "protein_bert_pytorch/PretrainingWrapper": Example(
            "protein_bert_pytorch",
            "PretrainingWrapper(ProteinBERT(num_tokens=21, num_annotation=8943, dim=512, "
            "dim_global=256, depth=6, narrow_conv_kernel=9, wide_conv_kernel=9, "
            "wide_conv_dilation=5, attn_heads=8, attn_dim_head=64, local_to_global_attn=False, "
            "local_self_attn=True, num_global_tokens=2, glu_conv=False), "
            "random_replace_token_prob=0.05, remove_annotation_prob=0.25, "
            "add_annotation_prob=0.01, remove_all_annotations_prob=0.5, seq_loss_weight=1.0, "
            "annotation_loss_weight=1.0, exclude_token_ids=(0, 1, 2))",
            "call(torch.randint(0, 21, (2, 2048)), torch.randint(0, 1, (2, 8943)).float(), "
            "mask=torch.ones(2, 2048).bool())",
        ),
    },
    "quasimetric-attention": {
        "quasimetric_attention/QuasimetricAttention": Example(
            "quasimetric_attention",
            "QuasimetricAttention(dim=512, dim_head=64, heads=8, prenorm=True)",
            "call(torch.randn(2, 1024, 512))",
        ),
    },
    "rectified-flow-pytorch": {
        "rectified_flow_pytorch/Unet": Example(
            "rectified_flow_pytorch",
            "Unet(dim=64)",
        ),
        "rectified_flow_pytorch/RectifiedFlow": Example(
            "rectified_flow_pytorch",
            "RectifiedFlow(Unet(dim=64))",
            "call(torch.randn(1, 3, 256, 256))",
        ),
    },
    "recurrent-memory-transformer-pytorch": {
        "recurrent_memory_transformer_pytorch/RecurrentMemoryTransformer": Example(
            "recurrent_memory_transformer_pytorch",
            "RecurrentMemoryTransformer(num_tokens=20000, num_memory_tokens=128, dim=512, "
            "depth=6, causal=True, dim_head=64, heads=8, seq_len=1024, use_flash_attn=True)",
            "call(torch.randint(0, 256, (1, 1024)))",
        ),
        "recurrent_memory_transformer_pytorch/RecurrentMemoryTransformer-3": Example(
            "recurrent_memory_transformer_pytorch",
            "RecurrentMemoryTransformer(num_tokens=256, num_memory_tokens=128, dim=512, depth=6, "
            "seq_len=1024, use_flash_attn=True, causal=True)",
        ),
        "recurrent_memory_transformer_pytorch/RecurrentMemoryTransformerWrapper": Example(
            "recurrent_memory_transformer_pytorch",
            "RecurrentMemoryTransformerWrapper(RecurrentMemoryTransformer(num_tokens=256, "
            "num_memory_tokens=128, dim=512, depth=6, seq_len=1024, use_flash_attn=True, "
            "causal=True))",
        ),
    },
    "reformer-pytorch": {
        "reformer_pytorch/ReformerLM": Example(
            "reformer_pytorch",
            "ReformerLM(num_tokens=20000, dim=1024, depth=12, max_seq_len=8192, heads=8, "
            "lsh_dropout=0.1, ff_dropout=0.1, post_attn_dropout=0.1, layer_dropout=0.1, "
            "causal=True, bucket_size=64, n_hashes=4, emb_dim=128, dim_head=64, ff_chunks=200, "
            "attn_chunks=8, num_mem_kv=128, full_attn_thres=1024, reverse_thres=1024, "
            "use_scale_norm=False, use_rezero=False, one_value_head=False, weight_tie=False, "
            "weight_tie_embedding=False, n_local_attn_heads=2, pkm_layers=(4, 7), "
            "pkm_num_keys=128, use_full_attn=False)",
            "call(torch.randint(0, 20000, (1, 8192)).long())",
        ),
        "reformer_pytorch/Reformer": Example(
            "reformer_pytorch",
            "Reformer(dim=512, depth=12, heads=8, lsh_dropout=0.1, causal=True)",
            "call(torch.randn(1, 8192, 512))",
        ),
        "reformer_pytorch/LSHSelfAttention": Example(
            "reformer_pytorch",
            "LSHSelfAttention(dim=128, heads=8, bucket_size=64, n_hashes=8, causal=False)",
            "call(torch.randn(10, 1024, 128))",
        ),
        "reformer_pytorch/LSHAttention": Example(
            "reformer_pytorch",
            "LSHAttention(bucket_size=64, n_hashes=16, causal=True)",
            "call(torch.randn(10, 1024, 128), torch.randn(10, 1024, 128))",
        ),
        "reformer_pytorch/ReformerLM-2": Example(
            "reformer_pytorch",
            "ReformerLM(num_tokens=20000, dim=1024, depth=1, max_seq_len=8192, ff_chunks=8, "
            "causal=True)",
            "call(torch.randint(0, 20000, (1, 8192)).long(), keys=torch.randn(1, 512, 1024), "
            "input_mask=torch.ones(1, 8192).bool(), context_mask=torch.ones(1, 512).bool())",
        ),
        "reformer_pytorch/ReformerLM-3": Example(
            "reformer_pytorch",
            "ReformerLM(num_tokens=20000, dim=1024, depth=12, max_seq_len=8192, ff_chunks=8, "
            "attn_chunks=2, causal=True, axial_position_emb=True, axial_position_shape=(128, 64))",
            "call(torch.randint(0, 20000, (1, 8192)).long())",
        ),
        "reformer_pytorch/ReformerLM-4": Example(
            "reformer_pytorch",
            "ReformerLM(num_tokens=20000, emb_dim=128, dim=1024, depth=12, heads=8, "
            "max_seq_len=4096, fixed_position_emb=True, return_embeddings=True)",
            "call(torch.randint(0, 20000, (1, 4096)).long())",
        ),
        "reformer_pytorch/ReformerLM-6": Example(
            "reformer_pytorch torch.nn torchvision",
            "ReformerLM(num_tokens=20000, dim=512, depth=6, heads=8, max_seq_len=4096, "
            "causal=True)",
        ),
        "reformer_pytorch/ReformerEncDec": Example(
            "reformer_pytorch",
            "ReformerEncDec(dim=512, enc_num_tokens=20000, enc_depth=6, enc_max_seq_len=4096, "
            "dec_num_tokens=20000, dec_depth=6, dec_max_seq_len=4096)",
            "call(torch.randint(0, 20000, (1, 4096)).long(), torch.randint(0, 20000, (1, "
            "4096)).long(), return_loss=True, enc_input_mask=torch.ones(1, 4096).bool())",
        ),
        "reformer_pytorch/ReformerLM-7": Example(
            "reformer_pytorch",
            "ReformerLM(num_tokens=20000, dim=512, depth=6, max_seq_len=8192, ff_chunks=8, "
            "ff_dropout=0.1, ff_mult=6, ff_activation=nn.LeakyReLU, ff_glu=True)",
            "call(torch.randint(0, 20000, (1, 8192)).long())",
        ),
        "reformer_pytorch/Autopadder": Example(
            "reformer_pytorch",
            "Autopadder(ReformerLM(num_tokens=20000, dim=1024, depth=12, max_seq_len=8192, "
            "heads=8, lsh_dropout=0.1, causal=True, bucket_size=63, num_mem_kv=77))",
            "call(torch.randint(0, 20000, (1, 7777)).long(), keys=torch.randn(1, 137, 1024))",
        ),
        "reformer_pytorch/ReformerLM-9": Example(
            "reformer_pytorch",
            "ReformerLM(num_tokens=20000, dim=1024, depth=12, max_seq_len=4096, lsh_dropout=0.1, "
            "causal=True, full_attn_thres=1024)",
        ),
        "reformer_pytorch.generative_tools/TrainingWrapper": Example(
            "reformer_pytorch.generative_tools reformer_pytorch",
            "TrainingWrapper(ReformerLM(num_tokens=20000, dim=1024, depth=12, max_seq_len=4096, "
            "lsh_dropout=0.1, causal=True, full_attn_thres=1024), ignore_index=0, pad_value=0)",
            "call([randint(0, 20000, (120,)), randint(0, 20000, (253,)), randint(0, 20000, "
            "(846,))], return_loss=True)",
        ),
    },
    "remixer-pytorch": {
        "remixer_pytorch/RemixerBlock": Example(
            "remixer_pytorch",
            "RemixerBlock(dim=512, seq_len=1024)",
            "call(torch.randn(1, 1024, 512))",
        ),
    },
    "res-mlp-pytorch": {
        "res_mlp_pytorch/ResMLP": Example(
            "res_mlp_pytorch",
            "ResMLP(image_size=256, patch_size=16, dim=512, depth=12, num_classes=1000)",
            "call(torch.randn(1, 3, 256, 256))",
        ),
        "res_mlp_pytorch/ResMLP-2": Example(
            "res_mlp_pytorch",
            "ResMLP(image_size=(128, 256), patch_size=16, dim=512, depth=12, num_classes=1000)",
            "call(torch.randn(1, 3, 128, 256))",
        ),
    },
    "RIN-pytorch": {
        "rin_pytorch/GaussianDiffusion-2": Example(
            "rin_pytorch",
            "GaussianDiffusion(RIN(dim=256, image_size=128, patch_size=8, depth=6, "
            "num_latents=128, latent_self_attn_depth=4), timesteps=1000, "
            "train_prob_self_cond=0.9, scale=1.0)",
            "call(torch.randn(8, 3, 128, 128))",
        ),
    },
    "ring-attention-pytorch": {
        "ring_attention_pytorch/RingAttention": Example(
            "ring_attention_pytorch",
            "RingAttention(dim=512, dim_head=64, heads=8, causal=True, auto_shard_seq=True, "
            "ring_attn=True, ring_seq_size=512)",
            "call(torch.randn(1, 1024, 512))",
        ),
    },
    "RLT-pytorch": {
        "RLT/RLT": Example(
            "RLT",
            "RLT(num_tokens=256, dim=512, enc_depth=4, dec_depth=4, dec_sliding_window_size=16, "
            "tbptt_step_size=16)",
        ),
    },
    "robotic-transformer-pytorch": {
        "robotic_transformer_pytorch/MaxViT": Example(
            "robotic_transformer_pytorch",
            "MaxViT(num_classes=1000, dim_conv_stem=64, dim=96, dim_head=32, depth=(2, 2, 5, 2), "
            "window_size=7, mbconv_expansion_rate=4, mbconv_shrinkage_rate=0.25, dropout=0.1)",
        ),
    },
    "rotary-embedding-torch": {
        "rotary_embedding_torch/RotaryEmbedding": Example(
            "rotary_embedding_torch",
            "RotaryEmbedding(dim=32)",
        ),
    },
    "routing-transformer": {
        "routing_transformer/RoutingTransformerLM": Example(
            "routing_transformer",
            "RoutingTransformerLM(num_tokens=20000, dim=512, heads=8, depth=12, max_seq_len=8192, "
            "causal=True, emb_dim=128, weight_tie=False, tie_embedding=False, dim_head=64, "
            "attn_dropout=0.1, attn_layer_dropout=0.0, ff_dropout=0.1, layer_dropout=0.0, "
            "window_size=128, n_local_attn_heads=4, reversible=True, ff_chunks=10, ff_glu=True, "
            "pkm_layers=(4, 7), pkm_num_keys=128, moe_layers=(3, 6), moe_num_experts=4, "
            "moe_loss_coef=0.01, num_mem_kv=8, use_scale_norm=False, use_rezero=False, "
            "shift_tokens=True)",
            "call(torch.randint(0, 20000, (1, 8192)).long(), "
            "input_mask=torch.ones_like(torch.randint(0, 20000, (1, 8192)).long()).bool())",
        ),
        "routing_transformer/RoutingTransformer": Example(
            "routing_transformer",
            "RoutingTransformer(dim=512, heads=8, depth=12, max_seq_len=8192, window_size=128, "
            "n_local_attn_heads=4)",
            "call(torch.randn(1, 8192, 512), input_mask=torch.ones(1, 8192).bool())",
        ),
        "routing_transformer/RoutingTransformerEncDec": Example(
            "routing_transformer",
            "RoutingTransformerEncDec(dim=512, enc_num_tokens=20000, enc_depth=4, enc_heads=8, "
            "enc_max_seq_len=4096, enc_window_size=128, dec_num_tokens=20000, dec_depth=4, "
            "dec_heads=8, dec_max_seq_len=4096, dec_window_size=128, dec_reversible=True)",
            "call(torch.randint(0, 20000, (1, 4096)), torch.randint(0, 20000, (1, 4096)), "
            "enc_input_mask=torch.ones_like(torch.randint(0, 20000, (1, 4096))).bool(), "
            "dec_input_mask=torch.ones_like(torch.randint(0, 20000, (1, 4096))).bool(), "
            "return_loss=True, randomly_truncate_sequence=True)",
        ),
        "routing_transformer/RoutingTransformerLM-2": Example(
            "routing_transformer",
            "RoutingTransformerLM(num_tokens=20000, dim=1024, heads=8, depth=6, window_size=256, "
            "max_seq_len=8192, causal=True, _register_kmeans_update=False)",
            "call(torch.randint(0, 20000, (1, 8192)), return_loss=True)",
        ),
        "routing_transformer/RoutingTransformerLM-3": Example(
            "routing_transformer",
            "RoutingTransformerLM(num_tokens=20000, dim=1024, heads=8, depth=12, window_size=256, "
            "max_seq_len=8192, causal=True)",
            "call(torch.randint(0, 20000, (1, 8192)), return_loss=True, "
            "randomly_truncate_sequence=True)",
        ),
    },
    "SAC-pytorch": {
        "SAC_pytorch/Critic": Example(
            "SAC_pytorch",
            "Critic(dim_state=5, num_cont_actions=2, num_discrete_actions=(5, 5), dim_out=3)",
        ),
        "SAC_pytorch/Actor": Example(
            "SAC_pytorch",
            "Actor(dim_state=5, num_cont_actions=2, num_discrete_actions=(5, 5))",
            "call(torch.randn(3, 5), sample=True)",
        ),
    },
    "segformer-pytorch": {
        "segformer_pytorch/Segformer": Example(
            "segformer_pytorch",
            "Segformer(dims=(32, 64, 160, 256), heads=(1, 2, 5, 8), ff_expansion=(8, 8, 4, 4), "
            "reduction_ratio=(8, 4, 2, 1), num_layers=2, decoder_dim=256, num_classes=4)",
            "call(torch.randn(1, 3, 256, 256))",
        ),
    },
    "simple-hierarchical-transformer": {
        "simple_hierarchical_transformer/HierarchicalTransformer": Example(
            "simple_hierarchical_transformer",
            "HierarchicalTransformer(num_tokens=20000, dim=512, depth=6, dim_head=64, heads=8, "
            "seq_len=2048, hierarchies=(1, 2, 8), window_sizes=(32, 64, None))",
            "call(torch.randint(0, 20000, (1, 2048)), return_loss=True)",
        ),
    },
    "sinkhorn-router-pytorch": {
        "sinkhorn_router_pytorch/SinkhornRouter": Example(
            "sinkhorn_router_pytorch",
            "SinkhornRouter(dim=512, experts=nn.Parameter(torch.randn(8, 8, 512, 256)), "
            "competitive=True, causal=False)",
            "call(torch.randn(1, 8, 1017, 512))",
        ),
    },
    "sinkhorn-transformer": {
        "sinkhorn_transformer/SinkhornTransformerLM": Example(
            "sinkhorn_transformer",
            "SinkhornTransformerLM(num_tokens=20000, dim=1024, heads=8, depth=12, "
            "max_seq_len=8192, bucket_size=128, causal=False, n_sortcut=2, n_top_buckets=2, "
            "ff_chunks=10, reversible=True, emb_dropout=0.1, ff_dropout=0.1, attn_dropout=0.1, "
            "attn_layer_dropout=0.1, layer_dropout=0.1, weight_tie=True, emb_dim=128, "
            "dim_head=64, ff_glu=True, n_local_attn_heads=2, pkm_layers=(4, 7), pkm_num_keys=128)",
            "call(torch.randint(0, 20000, (1, 2048)))",
        ),
        "sinkhorn_transformer/SinkhornTransformer": Example(
            "sinkhorn_transformer",
            "SinkhornTransformer(dim=1024, heads=8, depth=12, bucket_size=128)",
            "call(torch.randn(1, 2048, 1024))",
        ),
        "sinkhorn_transformer/SinkhornTransformerLM-2": Example(
            "sinkhorn_transformer",
            "SinkhornTransformerLM(num_tokens=20000, dim=512, depth=6, heads=8, bucket_size=128, "
            "max_seq_len=4096, reversible=True, return_embeddings=True)",
            "call(torch.randint(0, 20000, (1, 4096)), input_mask=torch.ones_like(torch.randint(0, "
            "20000, (1, 4096))).bool())",
        ),
        "sinkhorn_transformer/SinkhornTransformerLM-3": Example(
            "sinkhorn_transformer",
            "SinkhornTransformerLM(num_tokens=20000, dim=512, depth=6, causal=True, "
            "bucket_size=128, max_seq_len=4096, receives_context=True, context_bucket_size=128, "
            "reversible=True)",
            "call(torch.randint(0, 20000, (1, 4096)), "
            "context=SinkhornTransformerLM(num_tokens=20000, dim=512, depth=6, heads=8, "
            "bucket_size=128, max_seq_len=4096, reversible=True, "
            "return_embeddings=True)(torch.randint(0, 20000, (1, 4096)), "
            "input_mask=torch.ones_like(torch.randint(0, 20000, (1, 4096))).bool()), "
            "input_mask=torch.ones_like(torch.randint(0, 20000, (1, 4096))).bool(), "
            "context_mask=torch.ones_like(torch.randint(0, 20000, (1, 4096))).bool())",
        ),
        "sinkhorn_transformer/SinkhornTransformerLM-4": Example(
            "sinkhorn_transformer",
            "SinkhornTransformerLM(num_tokens=20000, dim=1024, heads=8, depth=12, "
            "max_seq_len=2048, bucket_size=128, causal=True)",
        ),
        "sinkhorn_transformer/Autopadder": Example(
            "sinkhorn_transformer",
            "Autopadder(SinkhornTransformerLM(num_tokens=20000, dim=1024, heads=8, depth=12, "
            "max_seq_len=2048, bucket_size=128, causal=True), pad_left=True)",
            "call(torch.randint(0, 20000, (1, 1117)))",
        ),
        "sinkhorn_transformer/SinkhornTransformerLM-5": Example(
            "sinkhorn_transformer",
            "SinkhornTransformerLM(num_tokens=20000, dim=1024, heads=8, depth=12, "
            "bucket_size=128, max_seq_len=8192, use_simple_sort_net=True, sinkhorn_iter=7, "
            "n_sortcut=2, temperature=0.75, non_permutative=False)",
            "call(torch.randint(0, 20000, (1, 8192)))",
        ),
        "sinkhorn_transformer/AutoregressiveWrapper": Example(
            "sinkhorn_transformer",
            "AutoregressiveWrapper(SinkhornTransformerLM(num_tokens=20000, dim=1024, heads=8, "
            "depth=12, bucket_size=75, max_seq_len=8192, causal=True))",
        ),
    },
    "slot_attention": {
        "slot_attention/SlotAttention": Example(
            "slot_attention",
            "SlotAttention(num_slots=5, dim=512, iters=3)",
            "call(torch.randn(2, 1024, 512))",
        ),
        "slot_attention/MultiHeadSlotAttention": Example(
            "slot_attention",
            "MultiHeadSlotAttention(dim=512, num_slots=5, iters=3)",
        ),
        "slot_attention/AdaptiveSlotWrapper": Example(
            "slot_attention",
            "AdaptiveSlotWrapper(MultiHeadSlotAttention(dim=512, num_slots=5, iters=3), "
            "temperature=0.5)",
            "call(torch.randn(2, 1024, 512))",
        ),
    },
    "soft-moe-pytorch": {
        "soft_moe_pytorch/SoftMoE": Example(
            "soft_moe_pytorch",
            "SoftMoE(dim=512, seq_len=1024, num_experts=4)",
            "call(torch.randn(1, 1024, 512))",
        ),
        "soft_moe_pytorch/DynamicSlotsSoftMoE": Example(
            "soft_moe_pytorch",
            "DynamicSlotsSoftMoE(dim=512, num_experts=4, geglu=True)",
            "call(torch.randn(1, 1023, 512))",
        ),
    },
    "spline-based-transformer": {
        "spline_based_transformer/SplineBasedTransformer": Example(
            "spline_based_transformer",
            "SplineBasedTransformer(dim=512, enc_depth=6, dec_depth=6)",
            "call(torch.randn(1, 1024, 512), return_loss=True)",
        ),
        "spline_based_transformer/ImageAutoencoderWrapper": Example(
            "spline_based_transformer",
            "ImageAutoencoderWrapper(image_size=256, patch_size=32, "
            "spline_transformer=SplineBasedTransformer(dim=512, enc_depth=6, dec_depth=6))",
            "call(torch.randn(2, 3, 256, 256), return_loss=True)",
        ),
    },
    "st-moe-pytorch": {
        "st_moe_pytorch/MoE": Example(
            "st_moe_pytorch",
            "MoE(dim=512, num_experts=16, gating_top_n=2, threshold_train=0.2, "
            "threshold_eval=0.2, capacity_factor_train=1.25, capacity_factor_eval=2.0, "
            "balance_loss_coef=0.01, router_z_loss_coef=0.001)",
            "call(torch.randn(4, 1024, 512))",
        ),
        "st_moe_pytorch/SparseMoEBlock": Example(
            "st_moe_pytorch",
            "SparseMoEBlock(MoE(dim=512, num_experts=16, gating_top_n=2, threshold_train=0.2, "
            "threshold_eval=0.2, capacity_factor_train=1.25, capacity_factor_eval=2.0, "
            "balance_loss_coef=0.01, router_z_loss_coef=0.001), add_ff_before=True, "
            "add_ff_after=True)",
            "call(torch.randn(4, 1024, 512))",
        ),
    },
    "stam-pytorch": {
        "stam_pytorch/STAM": Example(
            "stam_pytorch",
            "STAM(dim=512, image_size=256, patch_size=32, num_frames=5, space_depth=12, "
            "space_heads=8, space_mlp_dim=2048, time_depth=6, time_heads=8, time_mlp_dim=2048, "
            "num_classes=100, space_dim_head=64, time_dim_head=64, dropout=0.0, emb_dropout=0.0)",
            "call(torch.randn(2, 5, 3, 256, 256))",
        ),
    },
    "tab-transformer-pytorch": {
        "tab_transformer_pytorch/TabTransformer": Example(
            "tab_transformer_pytorch",
            "TabTransformer(categories=(10, 5, 6, 5, 8), num_continuous=10, dim=32, dim_out=1, "
            "depth=6, heads=8, attn_dropout=0.1, ff_dropout=0.1, mlp_hidden_mults=(4, 2), "
            "mlp_act=nn.ReLU(), continuous_mean_std=torch.randn(10, 2))",
            "call(torch.randint(0, 5, (1, 5)), torch.randn(1, 10))",
        ),
        "tab_transformer_pytorch/FTTransformer": Example(
            "tab_transformer_pytorch",
            "FTTransformer(categories=(10, 5, 6, 5, 8), num_continuous=10, dim=32, dim_out=1, "
            "depth=6, heads=8, attn_dropout=0.1, ff_dropout=0.1)",
            "call(torch.randint(0, 5, (1, 5)), torch.randn(1, 10))",
        ),
    },
    "taylor-series-linear-attention": {
        "taylor_series_linear_attention/TaylorSeriesLinearAttn": Example(
            "taylor_series_linear_attention",
            "TaylorSeriesLinearAttn(dim=512, dim_head=16, heads=16)",
            "call(torch.randn(1, 4096, 512), mask=torch.ones((1, 4096)).bool())",
        ),
        "taylor_series_linear_attention/TaylorSeriesPolyAttention": Example(
            "taylor_series_linear_attention",
            "TaylorSeriesPolyAttention(dim=512, heads=16, dim_head=32, "
            "remove_even_power_dups=False, prenorm=True, multiply_root_value=True, "
            "use_root_value_as_attn_gate=True)",
            "call(torch.randn(1, 1024, 512), mask=torch.ones((1, 1024)).bool())",
        ),
    },
    "timesformer-pytorch": {
        "timesformer_pytorch/TimeSformer": Example(
            "timesformer_pytorch",
            "TimeSformer(dim=512, image_size=224, patch_size=16, num_frames=8, num_classes=10, "
            "depth=12, heads=8, dim_head=64, attn_dropout=0.1, ff_dropout=0.1)",
            "call(torch.randn(2, 8, 3, 224, 224), mask=torch.ones(2, 8).bool())",
        ),
    },
    "tiny-recursive-model": {
        "tiny_recursive_model/TinyRecursiveModel": Example(
            "tiny_recursive_model",
            "TinyRecursiveModel(dim=16, num_tokens=256, network=MLPMixer1D(dim=16, depth=2, "
            "seq_len=256))",
        ),
    },
    "token-shift-gpt": {
        "token_shift_gpt/TokenShiftGPT": Example(
            "token_shift_gpt",
            "TokenShiftGPT(num_tokens=256, dim=512, max_seq_len=1024, depth=12, ff_mult=8)",
            "call(torch.randint(0, 256, (1, 1024)))",
        ),
    },
    "toolformer-pytorch": {
        "toolformer_pytorch/PaLM": Example(
            "toolformer_pytorch",
            "PaLM(dim=512, depth=2, heads=8, dim_head=64)",
        ),
        "toolformer_pytorch/PaLM-2": Example(
            "toolformer_pytorch",
            "PaLM(dim=512, num_tokens=20000, depth=2, heads=8, dim_head=64)",
        ),
    },
    "tranception-pytorch": {
        "tranception_pytorch/Tranception": Example(
            "tranception_pytorch",
            "Tranception(dim=512, depth=6, heads=8, dim_head=64)",
            "call(torch.randint(0, 21, (1, 512)))",
        ),
    },
    "transformer-in-transformer": {
        "transformer_in_transformer/TNT": Example(
            "transformer_in_transformer",
            "TNT(image_size=256, patch_dim=512, pixel_dim=24, patch_size=16, pixel_size=4, "
            "depth=6, num_classes=1000, attn_dropout=0.1, ff_dropout=0.1)",
            "call(torch.randn(2, 3, 256, 256))",
        ),
    },
    "triangle-multiplicative-module": {
        "triangle_multiplicative_module/TriangleMultiplicativeModule": Example(
            "triangle_multiplicative_module",
            "TriangleMultiplicativeModule(dim=64, hidden_dim=128, mix='outgoing')",
            "call(torch.randn(1, 256, 256, 64), mask=torch.ones(1, 256, 256).bool())",
        ),
    },
    "uformer-pytorch": {
        "uformer_pytorch/Uformer": Example(
            "uformer_pytorch",
            "Uformer(dim=64, stages=4, num_blocks=2, window_size=16, dim_head=64, heads=8, "
            "ff_mult=4)",
            "call(torch.randn(1, 3, 256, 256))",
        ),
        "uformer_pytorch/Uformer-2": Example(
            "uformer_pytorch",
            "Uformer(dim=64, stages=4, num_blocks=2, window_size=16, dim_head=64, heads=8, "
            "ff_mult=4, time_emb=True)",
            "call(torch.randn(1, 3, 256, 256), time=torch.arange(1))",
        ),
    },
    "uniformer-pytorch": {
        "uniformer_pytorch/Uniformer": Example(
            "uniformer_pytorch",
            "Uniformer(num_classes=1000, dims=(64, 128, 256, 512), depths=(3, 4, 8, 3), "
            "mhsa_types=('l', 'l', 'g', 'g'))",
            "call(torch.randn(1, 3, 8, 224, 224))",
        ),
    },
    "vector-quantize-pytorch": {
        "vector_quantize_pytorch/VectorQuantize": Example(
            "vector_quantize_pytorch",
            "VectorQuantize(dim=256, codebook_size=512, decay=0.8, commitment_weight=1.0)",
            "call(torch.randn(1, 1024, 256))",
        ),
        "vector_quantize_pytorch/ResidualVQ": Example(
            "vector_quantize_pytorch",
            "ResidualVQ(dim=256, num_quantizers=8, codebook_size=1024)",
            "call(torch.randn(1, 1024, 256))",
        ),
        "vector_quantize_pytorch/ResidualVQ-2": Example(
            "vector_quantize_pytorch",
            "ResidualVQ(dim=256, num_quantizers=8, codebook_size=1024, diveq=True)",
        ),
        "vector_quantize_pytorch/ResidualVQ-3": Example(
            "vector_quantize_pytorch",
            "ResidualVQ(dim=256, num_quantizers=8, codebook_size=1024, "
            "stochastic_sample_codes=True, sample_codebook_temp=0.1, shared_codebook=True)",
            "call(torch.randn(1, 1024, 256))",
        ),
        "vector_quantize_pytorch/GroupedResidualVQ": Example(
            "vector_quantize_pytorch",
            "GroupedResidualVQ(dim=256, num_quantizers=8, groups=2, codebook_size=1024)",
            "call(torch.randn(1, 1024, 256))",
        ),
        "vector_quantize_pytorch/ResidualVQ-4": Example(
            "vector_quantize_pytorch",
            "ResidualVQ(dim=256, codebook_size=256, num_quantizers=4, kmeans_init=True, "
            "kmeans_iters=10)",
            "call(torch.randn(1, 1024, 256))",
        ),
        "vector_quantize_pytorch/VectorQuantize-4": Example(
            "vector_quantize_pytorch",
            "VectorQuantize(dim=256, codebook_size=256, codebook_dim=16)",
            "call(torch.randn(1, 1024, 256))",
        ),
        "vector_quantize_pytorch/VectorQuantize-5": Example(
            "vector_quantize_pytorch",
            "VectorQuantize(dim=256, codebook_size=256, use_cosine_sim=True)",
            "call(torch.randn(1, 1024, 256))",
        ),
        "vector_quantize_pytorch/VectorQuantize-7": Example(
            "vector_quantize_pytorch",
            "VectorQuantize(dim=256, codebook_size=256, accept_image_fmap=True, "
            "orthogonal_reg_weight=10, orthogonal_reg_max_codes=128, "
            "orthogonal_reg_active_codes_only=False)",
            "call(torch.randn(1, 256, 32, 32))",
        ),
        "vector_quantize_pytorch/RandomProjectionQuantizer": Example(
            "vector_quantize_pytorch",
            "RandomProjectionQuantizer(dim=512, num_codebooks=16, codebook_dim=256, "
            "codebook_size=1024)",
            "call(torch.randn(1, 1024, 512))",
        ),
        "vector_quantize_pytorch/SimVQ": Example(
            "vector_quantize_pytorch",
            "SimVQ(dim=512, codebook_size=1024, rotation_trick=True)",
            "call(torch.randn(1, 1024, 512))",
        ),
        "vector_quantize_pytorch/ResidualSimVQ": Example(
            "vector_quantize_pytorch",
            "ResidualSimVQ(dim=512, num_quantizers=4, codebook_size=1024, rotation_trick=True)",
            "call(torch.randn(1, 1024, 512))",
        ),
        "vector_quantize_pytorch/LFQ": Example(
            "vector_quantize_pytorch",
            "LFQ(codebook_size=65536, dim=16, entropy_loss_weight=0.1, diversity_gamma=1.0)",
            "call(torch.randn(1, 16, 32, 32), inv_temperature=100.0)",
        ),
        "vector_quantize_pytorch/LFQ-2": Example(
            "vector_quantize_pytorch",
            "LFQ(codebook_size=4096, dim=16, num_codebooks=4)",
            "call(torch.randn(1, 16, 32, 32))",
        ),
        "vector_quantize_pytorch/ResidualLFQ": Example(
            "vector_quantize_pytorch",
            "ResidualLFQ(dim=256, codebook_size=256, num_quantizers=8)",
            "call(torch.randn(1, 1024, 256))",
        ),
    },
    "video-diffusion-pytorch": {
        "video_diffusion_pytorch/GaussianDiffusion": Example(
            "video_diffusion_pytorch",
            "GaussianDiffusion(Unet3D(dim=64, dim_mults=(1, 2, 4, 8)), image_size=32, "
            "num_frames=5, timesteps=1000, loss_type='l1')",
            "call(torch.randn(1, 3, 5, 32, 32))",
        ),
        "video_diffusion_pytorch/GaussianDiffusion-2": Example(
            "video_diffusion_pytorch",
            "GaussianDiffusion(Unet3D(dim=64, cond_dim=64, dim_mults=(1, 2, 4, 8)), "
            "image_size=32, num_frames=5, timesteps=1000, loss_type='l1')",
            "call(torch.randn(2, 3, 5, 32, 32), cond=torch.randn(2, 64))",
        ),
    },
    "VN-transformer": {
        "VN_transformer/VNTransformer": Example(
            "VN_transformer",
            "VNTransformer(dim=64, depth=2, dim_head=64, heads=8, dim_feat=64, bias_epsilon=1e-06)",
            "call(torch.randn(1, 32, 3), feats=torch.randn(1, 32, 64))",
        ),
    },
    "x-clip": {
        "x_clip/CLIP-2": Example(
            "x_clip vit_pytorch.extractor vit_pytorch",
            "CLIP(image_encoder=Extractor(ViT(image_size=256, patch_size=32, num_classes=1000, "
            "dim=512, depth=6, heads=16, mlp_dim=2048, dropout=0.1, emb_dropout=0.1), "
            "return_embeddings_only=True), dim_image=512, dim_text=512, dim_latent=512, "
            "num_text_tokens=10000, text_enc_depth=6, text_seq_len=256, text_heads=8)",
            "call(torch.randint(0, 10000, (4, 256)), torch.randn(4, 3, 256, 256), "
            "return_loss=True)",
        ),
    },
    "x-mlps-pytorch": {
        "x_mlps_pytorch/MLP": Example(
            "x_mlps_pytorch",
            "MLP(10, 16, 5)",
            "call(torch.randn(10))",
        ),
        "x_mlps_pytorch/MLP-2": Example(
            "x_mlps_pytorch",
            "MLP(10, 32, 16, 1)",
            "call(torch.randn(10))",
        ),
    },
    "x-unet": {
        "x_unet/XUnet": Example(
            "x_unet",
            "XUnet(dim=64, channels=3, dim_mults=(1, 2, 4, 8), nested_unet_depths=(7, 4, 2, 1), "
            "consolidate_upsample_fmaps=True, use_xattnres=True)",
            "call(torch.randn(1, 3, 256, 256))",
        ),
        "x_unet/XUnet-2": Example(
            "x_unet",
            "XUnet(dim=64, frame_kernel_size=3, channels=3, dim_mults=(1, 2, 4, 8), "
            "nested_unet_depths=(5, 4, 2, 1), consolidate_upsample_fmaps=True, "
            "weight_standardize=True, use_xattnres=True)",
            "call(torch.randn(1, 3, 10, 128, 128))",
        ),
        "x_unet/XAttnRes": Example(
            "x_unet",
            "XAttnRes(dim=64, dim_ins=(32, 64, 128), heads=1)",
            "call(torch.randn(1, 64, 32, 32), [torch.randn(1, 32, 64, 64), torch.randn(1, 64, 32, "
            "32), torch.randn(1, 128, 16, 16)])",
        ),
    },
}

TASKS = {
    "adjacent-attention-pytorch": "graph-ml",
    "anymal-belief-state-encoder-decoder-pytorch": "reinforcement-learning",
    "aoa-pytorch": "image-classification",
    "autoregressive-diffusion-pytorch": "unconditional-image-generation",
    "axial-attention": "image-classification",
    "bit-diffusion": "unconditional-image-generation",
    "block-recurrent-transformer-pytorch": "text-generation",
    "bottleneck-transformer-pytorch": "image-classification",
    "charformer-pytorch": "text-generation",
    "CoCa-pytorch": "image-to-text",
    "CoLT5-attention": "image-classification",
    "compressive-transformer-pytorch": "text-generation",
    "conformer": "automatic-speech-recognition",
    "dalle2-pytorch": "text-to-image",
    "declarative-attention": "text-generation",
    "denoising-diffusion-pytorch": "unconditional-image-generation",
    "egnn-pytorch": "graph-ml",
    "electra-pytorch": "fill-mask",
    "ETSformer-pytorch": "time-series-forecasting",
    "fast-transformer-pytorch": "text-generation",
    "feedback-transformer-pytorch": "text-generation",
    "flamingo-pytorch": "text-generation",
    "FLASH-pytorch": "text-generation",
    "frame-averaging-pytorch": "graph-ml",
    "gated-state-spaces-pytorch": "text-generation",
    "gateloop-transformer": "text-generation",
    "geometric-vector-perceptron": "graph-ml",
    "glom-pytorch": "image-classification",
    "gotennet-pytorch": "graph-ml",
    "graph-transformer-pytorch": "graph-ml",
    "gsa-pytorch": "image-classification",
    "h-transformer-1d": "text-generation",
    "halonet-pytorch": "image-classification",
    "hamburger-pytorch": "image-classification",
    "hourglass-transformer-pytorch": "text-generation",
    "infini-transformer-pytorch": "text-generation",
    "ITTR-pytorch": "image-to-image",
    "lambda-networks": "image-classification",
    "lie-transformer-pytorch": "graph-ml",
    "linear-attention-transformer": "text-generation",
    "linformer": "fill-mask",
    "local-attention": "text-generation",
    "make-a-video-pytorch": "text-to-video",
    "MaMMUT-pytorch": "image-to-text",
    "med-seg-diff-pytorch": "image-segmentation",
    "Mega-pytorch": "text-generation",
    "MEGABYTE-pytorch": "text-generation",
    "memformer": "text-generation",
    "memory-transformer-xl": "text-generation",
    "meshgpt-pytorch": "text-to-3d",
    "metacontroller-pytorch": "reinforcement-learning",
    "mlm-pytorch": "fill-mask",
    "mlp-mixer-pytorch": "image-classification",
    "mmdit": "text-to-image",
    "mogrifier": "text-generation",
    "molecule-attention-transformer": "graph-ml",
    "multistream-transformers": "text-generation",
    "muse-maskgit-pytorch": "text-to-image",
    "native-sparse-attention-pytorch": "text-generation",
    "nystrom-attention": "text-generation",
    "omninet-pytorch": "text-generation",
    "PaLM-pytorch": "text-generation",
    "PaLM-rlhf-pytorch": "text-generation",
    "perceiver-pytorch": "image-classification",
    "performer-pytorch": "text-generation",
    "perfusion-pytorch": "text-to-image",
    "ponder-transformer": "text-generation",
    "protein-bert-pytorch": "fill-mask",
    "rectified-flow-pytorch": "unconditional-image-generation",
    "recurrent-memory-transformer-pytorch": "text-generation",
    "reformer-pytorch": "text-generation",
    "remixer-pytorch": "text-generation",
    "res-mlp-pytorch": "image-classification",
    "RIN-pytorch": "unconditional-image-generation",
    "ring-attention-pytorch": "text-generation",
    "RLT-pytorch": "text-generation",
    "robotic-transformer-pytorch": "robotics",
    "routing-transformer": "text-generation",
    "SAC-pytorch": "reinforcement-learning",
    "segformer-pytorch": "image-segmentation",
    "simple-hierarchical-transformer": "text-generation",
    "sinkhorn-transformer": "text-generation",
    "slot_attention": "image-segmentation",
    "soft-moe-pytorch": "image-classification",
    "st-moe-pytorch": "text-generation",
    "stam-pytorch": "video-classification",
    "tab-transformer-pytorch": "tabular-classification",
    "timesformer-pytorch": "video-classification",
    "tiny-recursive-model": "text-generation",
    "token-shift-gpt": "text-generation",
    "toolformer-pytorch": "text-generation",
    "tranception-pytorch": "fill-mask",
    "transformer-in-transformer": "image-classification",
    "uformer-pytorch": "image-to-image",
    "uniformer-pytorch": "video-classification",
    "video-diffusion-pytorch": "text-to-video",
    "VN-transformer": "graph-ml",
    "x-clip": "zero-shot-image-classification",
    "x-mlps-pytorch": "text-generation",
    "x-unet": "image-segmentation",
}
