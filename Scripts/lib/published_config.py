"""config.json of a folder that transformers 5 saved, in the spelling that published folders and mlx-lm have."""

import json
import os


def spell_as_published(folder):
    """transformers 5 writes rope_parameters alone, where mlx-lm looks for rope_theta in most families."""
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        fields = json.load(file)
    inner = fields.get("text_config", fields)
    rope = inner["rope_parameters"]
    if "rope_theta" in rope:
        inner["rope_theta"] = rope["rope_theta"]
        inner["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    else:
        inner["rope_theta"] = rope["full_attention"]["rope_theta"]
        inner["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
    if inner is not fields:  # mlx-lm takes Gemma 3's own vocabulary for granted
        fields["vocab_size"] = inner["vocab_size"]
    if inner["model_type"] == "granitemoehybrid":
        inner["layer_types"] = ["attention"] * len(inner["layer_types"])
    with open(path, "w") as file:
        json.dump(fields, file)
