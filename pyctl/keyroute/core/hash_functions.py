"""Spark's two hash functions over integers, longs and bytes; unsigned in and out.

Murmur3 x86 32 differs from the usual one in the tail: each byte left over after the last whole
word is mixed alone, sign-extended. XXH64 is the usual one.
"""

from __future__ import annotations

import struct
from typing import Protocol

_M32 = 0xFFFFFFFF
_M64 = 0xFFFFFFFFFFFFFFFF
_P1 = 0x9E3779B185EBCA87
_P2 = 0xC2B2AE3D27D4EB4F
_P3 = 0x165667B19E3779F9
_P4 = 0x85EBCA77C2B2AE63
_P5 = 0x27D4EB2F165667C5


class HashFunction(Protocol):
    @staticmethod
    def of_int(value: int, seed: int) -> int: ...

    @staticmethod
    def of_long(value: int, seed: int) -> int: ...

    @staticmethod
    def of_bytes(data: bytes, seed: int) -> int: ...


class Murmur3:
    """Murmur3 x86 32 as Spark's `Murmur3_x86_32` computes it; unsigned in and out."""

    @staticmethod
    def of_int(value: int, seed: int) -> int:
        return _murmur_end(_murmur_mix(seed, value & _M32), 4)

    @staticmethod
    def of_long(value: int, seed: int) -> int:
        low = _murmur_mix(seed, value & _M32)
        return _murmur_end(_murmur_mix(low, (value >> 32) & _M32), 8)

    @staticmethod
    def of_bytes(data: bytes, seed: int) -> int:
        whole = len(data) & ~3
        state = seed
        for (word,) in struct.iter_unpack("<I", data[:whole]):
            state = _murmur_mix(state, word)
        for byte in data[whole:]:
            state = _murmur_mix(state, (byte - 256 if byte > 127 else byte) & _M32)
        return _murmur_end(state, len(data))


class XxHash64:
    """XXH64 as Spark's `XXH64` computes it; unsigned in and out."""

    @staticmethod
    def of_int(value: int, seed: int) -> int:
        return _xx_end(_xx_mix_word((seed + _P5 + 4) & _M64, value & _M32))

    @staticmethod
    def of_long(value: int, seed: int) -> int:
        return _xx_end(_xx_mix_long((seed + _P5 + 8) & _M64, value & _M64))

    @staticmethod
    def of_bytes(data: bytes, seed: int) -> int:
        blocks = len(data) // 32 * 32
        state = _xx_blocks(data[:blocks], seed) if blocks else (seed + _P5) & _M64
        state = (state + len(data)) & _M64
        longs = blocks + (len(data) - blocks) // 8 * 8
        for (word,) in struct.iter_unpack("<Q", data[blocks:longs]):
            state = _xx_mix_long(state, word)
        if len(data) - longs >= 4:
            state = _xx_mix_word(state, int.from_bytes(data[longs : longs + 4], "little"))
            longs += 4
        for byte in data[longs:]:
            state = _rotate(state ^ (byte * _P5 & _M64), 11, 64) * _P1 & _M64
        return _xx_end(state)


def _rotate(value: int, by: int, bits: int) -> int:
    return (value << by | value >> (bits - by)) & ((1 << bits) - 1)


def _murmur_mix(state: int, word: int) -> int:
    mixed = _rotate(word * 0xCC9E2D51 & _M32, 15, 32) * 0x1B873593 & _M32
    return (_rotate(state ^ mixed, 13, 32) * 5 + 0xE6546B64) & _M32


def _murmur_end(state: int, length: int) -> int:
    state ^= length
    state = (state ^ state >> 16) * 0x85EBCA6B & _M32
    state = (state ^ state >> 13) * 0xC2B2AE35 & _M32
    return state ^ state >> 16


def _xx_blocks(data: bytes, seed: int) -> int:
    lanes = [(seed + _P1 + _P2) & _M64, (seed + _P2) & _M64, seed, (seed - _P1) & _M64]
    for words in struct.iter_unpack("<4Q", data):
        lanes = [
            _rotate((lane + word * _P2) & _M64, 31, 64) * _P1 & _M64
            for lane, word in zip(lanes, words, strict=True)
        ]
    state = sum(_rotate(v, by, 64) for v, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _M64
    for lane in lanes:
        state = ((state ^ _rotate(lane * _P2 & _M64, 31, 64) * _P1 & _M64) * _P1 + _P4) & _M64
    return state


def _xx_mix_long(state: int, word: int) -> int:
    mixed = _rotate(word * _P2 & _M64, 31, 64) * _P1 & _M64
    return (_rotate(state ^ mixed, 27, 64) * _P1 + _P4) & _M64


def _xx_mix_word(state: int, word: int) -> int:
    return (_rotate(state ^ (word * _P1 & _M64), 23, 64) * _P2 + _P3) & _M64


def _xx_end(state: int) -> int:
    state = (state ^ state >> 33) * _P2 & _M64
    state = (state ^ state >> 29) * _P3 & _M64
    return state ^ state >> 32
