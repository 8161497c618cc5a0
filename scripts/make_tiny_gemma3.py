#!/usr/bin/env python3
"""Writes a tiny Gemma 3 checkpoint with random weights, made for the exactness matrix.

    make_tiny_gemma3.py OUT.gguf TOKENS.json

Context 1024, sliding window 200 (so that 450 tokens cross the window, the pages of 128 positions and both kinds of layers), seven
layers (the sixth is full). Matrices are F16, Q8_0 and BF16 in turn. The same bytes come out on every machine: the standard
library's Mersenne Twister by seed, and conversions that struct does exactly.
"""
import json
import random
import struct
import sys

LAYERS, HIDDEN, HEADS, KEY_VALUE_HEADS, HEAD_DIM, INTERMEDIATE = 7, 64, 4, 2, 32, 96
CONTEXT, WINDOW, TOKENS, SEED = 1024, 200, 450, 20261201
F32, F16, Q8_0, BF16 = 0, 1, 8, 30
SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>"]
PIECES = SPECIAL + ["<0x%02X>" % byte for byte in range(256)] + list("abcdefghijkl")


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def key_value(key, kind, payload):
    return text(key) + struct.pack("<I", kind) + payload


def metadata():
    unsigned = lambda key, value: key_value(key, 4, struct.pack("<I", value))
    number = lambda key, value: key_value(key, 6, struct.pack("<f", value))
    boolean = lambda key, value: key_value(key, 7, struct.pack("<?", value))
    string = lambda key, value: key_value(key, 8, text(value))
    array = lambda key, kind, items: key_value(key, 9, struct.pack("<IQ", kind, len(items)) + b"".join(items))
    types = [3] * len(SPECIAL) + [6] * 256 + [1] * 12
    return [
        string("general.architecture", "gemma3"),
        string("general.name", "tiny gemma3, window 200"),
        unsigned("gemma3.context_length", CONTEXT),
        unsigned("gemma3.embedding_length", HIDDEN),
        unsigned("gemma3.block_count", LAYERS),
        unsigned("gemma3.feed_forward_length", INTERMEDIATE),
        unsigned("gemma3.attention.head_count", HEADS),
        unsigned("gemma3.attention.head_count_kv", KEY_VALUE_HEADS),
        number("gemma3.attention.layer_norm_rms_epsilon", 1e-6),
        unsigned("gemma3.attention.key_length", HEAD_DIM),
        unsigned("gemma3.attention.value_length", HEAD_DIM),
        number("gemma3.rope.freq_base", 1000000.0),
        unsigned("gemma3.attention.sliding_window", WINDOW),
        string("tokenizer.ggml.model", "llama"),
        string("tokenizer.ggml.pre", "default"),
        array("tokenizer.ggml.tokens", 8, [text(piece) for piece in PIECES]),
        array("tokenizer.ggml.token_type", 5, [struct.pack("<i", kind) for kind in types]),
        array("tokenizer.ggml.scores", 6, [struct.pack("<f", 0.0 if kind != 1 else -1.0) for kind in types]),
        unsigned("tokenizer.ggml.bos_token_id", 2),
        unsigned("tokenizer.ggml.eos_token_id", 1),
        unsigned("tokenizer.ggml.unknown_token_id", 3),
        unsigned("tokenizer.ggml.padding_token_id", 0),
        boolean("tokenizer.ggml.add_bos_token", True),
        boolean("tokenizer.ggml.add_space_prefix", False),
    ]


def encode(values, kind):
    if kind == F32:
        return struct.pack("<%df" % len(values), *values)
    if kind == F16:
        return struct.pack("<%de" % len(values), *values)
    if kind == BF16:  # truncation: any bits are a valid weight
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    blocks = []
    for begin in range(0, len(values), 32):
        block = values[begin:begin + 32]
        scale = struct.unpack("<e", struct.pack("<e", max(map(abs, block)) / 127))[0]
        codes = [max(-127, min(127, round(value / scale))) for value in block]
        blocks.append(struct.pack("<e32b", scale, *codes))
    return b"".join(blocks)


def tensors(generator):
    query, key_value_size = HEADS * HEAD_DIM, KEY_VALUE_HEADS * HEAD_DIM
    matrix = lambda rows, columns, gain: [generator.gauss(0.0, gain / columns**0.5) for _ in range(rows * columns)]
    norm = lambda size: [1.0 + generator.gauss(0.0, 0.2) for _ in range(size)]
    yield "token_embd.weight", [HIDDEN, len(PIECES)], Q8_0, matrix(len(PIECES), HIDDEN, 1.5)
    for layer in range(LAYERS):
        kinds = [F16, Q8_0, BF16]
        kind = lambda index: kinds[(layer + index) % 3]
        name = lambda part: "blk.%d.%s.weight" % (layer, part)
        yield name("attn_norm"), [HIDDEN], F32, norm(HIDDEN)
        yield name("attn_q"), [HIDDEN, query], kind(0), matrix(query, HIDDEN, 1.5)
        yield name("attn_k"), [HIDDEN, key_value_size], kind(1), matrix(key_value_size, HIDDEN, 1.5)
        yield name("attn_v"), [HIDDEN, key_value_size], kind(2), matrix(key_value_size, HIDDEN, 1.0)
        yield name("attn_q_norm"), [HEAD_DIM], F32, norm(HEAD_DIM)
        yield name("attn_k_norm"), [HEAD_DIM], F32, norm(HEAD_DIM)
        yield name("attn_output"), [query, HIDDEN], kind(1), matrix(HIDDEN, query, 1.0)
        yield name("post_attention_norm"), [HIDDEN], F32, norm(HIDDEN)
        yield name("ffn_norm"), [HIDDEN], F32, norm(HIDDEN)
        yield name("ffn_gate"), [HIDDEN, INTERMEDIATE], kind(2), matrix(INTERMEDIATE, HIDDEN, 1.5)
        yield name("ffn_up"), [HIDDEN, INTERMEDIATE], kind(0), matrix(INTERMEDIATE, HIDDEN, 1.5)
        yield name("ffn_down"), [INTERMEDIATE, HIDDEN], kind(1), matrix(HIDDEN, INTERMEDIATE, 1.0)
        yield name("post_ffw_norm"), [HIDDEN], F32, norm(HIDDEN)
    yield "output_norm.weight", [HIDDEN], F32, norm(HIDDEN)


def main(path, tokens_path):
    generator = random.Random(SEED)
    keys = metadata()
    infos, data, count = b"", b"", 0
    for name, dimensions, kind, values in tensors(generator):
        infos += text(name) + struct.pack("<I%dQIQ" % len(dimensions), len(dimensions), *dimensions, kind, len(data))
        data += encode(values, kind)
        data += b"\0" * (-len(data) % 32)
        count += 1
    header = b"GGUF" + struct.pack("<IQQ", 3, count, len(keys)) + b"".join(keys) + infos
    with open(path, "wb") as file:
        file.write(header + b"\0" * (-len(header) % 32) + data)
    with open(tokens_path, "w") as file:
        json.dump([2] + [generator.randrange(4, len(PIECES)) for _ in range(TOKENS - 1)], file)
        file.write("\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
