"""Makes random_spm.jsonl: small random SentencePiece BPE models and what the sentencepiece package answers for them.

The real Gemma vocabulary exercises few of the rules (its scores have hardly any ties, it has no unused pieces, no space
prefix, and byte tokens for everything), so these models do: ties on purpose, unused pieces, overlapping user-defined
pieces, vocabularies without byte tokens, the space prefix on and off.

Run: pip install sentencepiece==0.2.3 && python make_random_spm.py > random_spm.jsonl
"""

import base64
import json
import random
import struct

import sentencepiece

SPACE = "\u2581"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
ALPHABET = ["a", "b", "c", SPACE, "\u00e9", "\u20ac", "\U0001f600"]
STRANGERS = ["x", "\u4f60", "\n", "\u0000", "\ufffd"]


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """One protocol buffer field: bytes, float or integer."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def model_proto(pieces, byte_fallback, add_space_prefix):
    proto = b"".join(field(1, field(1, piece.encode()) + field(2, score) + field(3, kind)) for piece, score, kind in pieces)
    proto += field(2, field(3, 2) + field(35, int(byte_fallback)))  # TrainerSpec: model_type BPE, byte_fallback
    # NormalizerSpec: identity, add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces
    proto += field(3, field(1, b"identity") + field(3, int(add_space_prefix)) + field(4, 0) + field(5, 1))
    return proto


def random_pieces(rng, byte_fallback):
    pieces = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
    if byte_fallback:
        pieces += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    known = rng.sample(ALPHABET, rng.randint(3, len(ALPHABET)))
    texts = list(known)
    for _ in range(rng.randint(5, 40)):  # joined from what exists, as training does, so that merges can reach them
        texts.append(rng.choice(texts) + rng.choice(texts))
    seen = set()
    for text in texts:
        if text in seen or len(text) > 12:
            continue
        seen.add(text)
        kind = rng.choices([NORMAL, UNUSED, USER_DEFINED], [80, 12, 8])[0]
        pieces.append((text, float(-rng.randint(0, 6)), kind))
    return pieces


def random_text(rng):
    letters = rng.choices(ALPHABET + [" "] * 3 + STRANGERS, [8] * len(ALPHABET) + [4] * 3 + [1] * len(STRANGERS),
                          k=rng.randint(0, 24))
    text = "".join(letters).encode()
    if rng.random() < 0.25:  # cut, planted or over-long bytes
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xc0\xaf", b"\x80"]) + text[at:]
    return text


def main():
    rng = random.Random(20250314)
    for number in range(48):
        byte_fallback, add_space_prefix = number % 2 == 0, number % 4 < 2
        pieces = random_pieces(rng, byte_fallback)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model_proto(pieces, byte_fallback, add_space_prefix))
        encoded = []
        for _ in range(24):
            text = random_text(rng)
            ids = processor.encode(text.decode("utf-8") if is_utf8(text) else text)
            encoded.append([base64.b64encode(text).decode(), ids, processor.decode(ids)])
        decoded = []
        for _ in range(12):
            ids = [rng.randrange(len(pieces)) for _ in range(rng.randint(0, 12))]
            decoded.append([ids, processor.decode(ids)])
        print(json.dumps({
            "add_space_prefix": add_space_prefix,
            # GGUF files keep user-defined pieces with plain spaces, and no byte tokens are written out here
            "pieces": [[p.replace(SPACE, " ") if k == USER_DEFINED else p, s, k] for p, s, k in pieces if k != BYTE],
            "byte_tokens_after": 3 if byte_fallback else None,
            "encode": encoded,
            "decode": decoded,
        }, separators=(",", ":")))


def is_utf8(data):
    try:
        data.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False


if __name__ == "__main__":
    main()
