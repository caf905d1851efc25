extension PublishedTemplateTests {
    /// The templates of trl 1.16.0 and of llama.cpp (in llama-cpp-python 0.3.36).
    static let names: [Substring] = """
        Apertus-8B-Instruct Apriel-1.6-15b-Thinker-fixed Bielik-11B-v3.0-Instruct ByteDance-Seed-OSS
        Cohere2MoE CohereForAI-c4ai-command-r-plus-tool_use
        CohereForAI-c4ai-command-r7b-12-2024-tool_use GLM-4.6 GLM-4.7-Flash GigaChat3-10B-A1.8B
        GigaChat3.1-10B-A1.8B HuggingFaceTB-SmolLM3-3B Kimi-K2-Instruct Kimi-K2-Thinking Kimi-K3
        LFM2-8B-A1B LFM2.5-8B-A1B LFM2.5-Instruct MiMo-VL MiniMax-M1 MiniMax-M2 MiniMax-M3
        Mistral-Small-3.2-24B-Instruct-2506 NVIDIA-Nemotron-3-Nano-30B-A3B-BF16
        NVIDIA-Nemotron-Nano-v2 NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use
        NousResearch-Hermes-3-Llama-3.1-8B-tool_use Qwen-QwQ-32B Qwen-Qwen2.5-7B-Instruct
        Qwen-Qwen3-0.6B Qwen3-Coder Qwen3.5-4B Reka-Edge Spark2.5 StepFun3.5-Flash cohere cohere2
        cohere2_training cohere_training deepseek-ai-DeepSeek-R1-Distill-Llama-8B
        deepseek-ai-DeepSeek-R1-Distill-Qwen-32B deepseek-ai-DeepSeek-V3.1 deepseek-ai-DeepSeek-V3.2
        deepseek-ai-DeepSeek-V4 deepseek-ai-DeepSeek-V4-Flash-0731 deepseek_r1_distill
        deepseek_r1_distill_training deepseekv3 deepseekv3_training diffusion_gemma
        diffusion_gemma_training fireworks-ai-llama-3-firefunction-v2 gemma gemma3 gemma3_training
        gemma4 gemma4_v2 gemma4_v3 gemma4_v4 gemma4_v5 gemma_training glm4moe glm4moe_training
        google-gemma-2-2b-it google-gemma-4-31B-it google-gemma-4-31B-it-interleaved gptoss
        gptoss_training ibm-granite-granite-3.3-2B-Instruct ibm-granite-granite-4.0
        ibm-granite-granite-4.1 idefics3 idefics3_training inclusionai-ling-3.0-flash lfm2 lfm2_2_5
        lfm2_2_5_v2 lfm2_2_5_vl lfm2_training lfm2_v2 lfm2_v2_training llama-cpp-deepseek-r1
        llama-cpp-rwkv-world llama3 llama3_1 llama3_2 llama3_training llava_next llava_next_training
        meetkai-functionary-medium-v3.1 meetkai-functionary-medium-v3.2
        meta-llama-Llama-3.1-8B-Instruct meta-llama-Llama-3.2-3B-Instruct
        meta-llama-Llama-3.3-70B-Instruct microsoft-Phi-3.5-mini-instruct
        mistralai-Ministral-3-14B-Reasoning-2512 mistralai-Mistral-Nemo-Instruct-2407
        moonshotai-Kimi-K2 muse-glimmer muse_glimmer muse_glimmer_training nemotron_3_5_lightning
        nemotron_3_5_lightning_training nemotron_3_nano nemotron_3_nano_training nemotron_3_super
        nemotron_3_super_training nemotron_3_ultra nemotron_3_ultra_training openai-gpt-oss-120b
        openbmb-MiniCPM5-1B phi3 phi3_5 phi3_5_training phi3_training poolside-Laguna-S-2.1
        poolside-Laguna-XS-2.1 poolside-Laguna-XS.2 qwen2_5 qwen2_5_training qwen2_5_vl
        qwen2_5_vl_training qwen3 qwen3_5_nothink qwen3_5_nothink_training qwen3_5_think
        qwen3_5_think_training qwen3_6 qwen3_6_training qwen3_8 qwen3_8_training qwen3_instruct_2507
        qwen3_instruct_2507_training qwen3_training qwen3_vl qwen3_vl_training smolvlm
        smolvlm_training tencent-Hy3 unsloth-Apriel-1.5 unsloth-mistral-Devstral-Small-2507
        upstage-Solar-Open-100B
        """.split { $0.isWhitespace }
}
