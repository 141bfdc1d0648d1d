"""Signs of vectors, a bit a lane: all that the gradient of a LeakyReLU wants to know of its input.

Bits lie in arrays of floats, 32 in each number whatever its size, so that they can stand beside
one.
"""

# mypy: ignore-errors
from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ingram.kernels.vectors import address_of, spread, zero

WORD = 32
"""Signs in a number."""


@intrinsic
def put_signs(typingctx, array, at, c, vector):
    """A bit for each lane, set if it is above zero: those of channel c and on.

    They lie in array[at] and on as mere bits, 32 of them in each number.
    """

    def codegen(context, builder, signature, args):
        above = builder.fcmp_ordered(">", args[3], zero(args[3]))
        bits = builder.bitcast(above, ir.IntType(args[3].type.count))
        address, shift = _bits_at(context, builder, array, args)
        word = address.type.pointee
        bits = bits if bits.type == word else builder.zext(bits, word)
        if args[3].type.count < WORD:  # others are beside them
            bits = builder.shl(bits, shift)
            none_before = builder.icmp_unsigned("==", shift, word(0))
            before = builder.select(none_before, word(0), builder.load(address))
            bits = builder.or_(bits, before)
        builder.store(bits, address)
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp, vector), codegen


@intrinsic
def add_where(typingctx, vector, array, at, c, number):
    """The number added in lanes whose bit is set, see :func:`put_signs`."""

    def codegen(context, builder, signature, args):
        vector, number, lanes = args[0], args[4], ir.IntType(args[0].type.count)
        address, shift = _bits_at(context, builder, array, args[1:])
        bits = builder.load(address)
        bits = bits if lanes.width == WORD else builder.lshr(bits, shift)
        bits = bits if bits.type == lanes else builder.trunc(bits, lanes)
        chosen = builder.bitcast(bits, ir.VectorType(ir.IntType(1), lanes.width))
        more = builder.fadd(vector, spread(builder, number, vector.type))
        return builder.select(chosen, more, vector)

    return vector(vector, array, types.intp, types.intp, number), codegen


def _bits_at(context, builder, array, args):
    """Where the bit of a channel is: the address of its number, as an integer, and its place."""
    start, at, c = args[:3]
    size = c.type(WORD)
    address = address_of(context, builder, array, (start, builder.add(at, builder.udiv(c, size))))
    word, shift = ir.IntType(array.dtype.bitwidth), builder.urem(c, size)
    shift = shift if shift.type == word else builder.trunc(shift, word)
    return builder.bitcast(address, word.as_pointer()), shift
