"""Vectors of a fixed number of lanes for the compiled loops, as a type of their own in Numba.

A loop over a runtime number of channels is turned into vector instructions with checks around it
that cost more than 16 or 32 channels do. A value of this type is one LLVM vector: a handful of
registers, whatever the processor. ``lanes`` is a tuple whose length, known when a loop is
compiled, is the number of lanes (see :func:`lanes_of`).

``load``, ``store``, ``get`` and ``put`` take flat indices into contiguous arrays, never negative:
Numba's own indexing would check the sign of each.
"""

# mypy: ignore-errors
from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, overload, register_model

WIDEST = 64
"""Lanes, at most: more would not fit into the registers by far."""


def lanes_of(width: int, most: int = WIDEST) -> tuple[int, ...]:
    """As many lanes as divide ``width``: a power of two, which others are scalars to LLVM."""
    return (0,) * math.gcd(width, most)


class Vector(types.Type):
    """``lanes`` numbers of the type ``element``."""

    def __init__(self, element: Any, lanes: int) -> None:
        self.element, self.lanes = element, lanes
        super().__init__(name=f"Vector({element}, {lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        element = dmm.lookup(fe_type.element).get_value_type()
        super().__init__(dmm, fe_type, ir.VectorType(element, fe_type.lanes))


@intrinsic
def get(typingctx, array, at):
    """array[at]"""

    def codegen(context, builder, signature, args):
        return builder.load(address_of(context, builder, array, args))

    return array.dtype(array, types.intp), codegen


@intrinsic
def put(typingctx, array, at, number):
    """array[at] = number"""

    def codegen(context, builder, signature, args):
        builder.store(args[2], address_of(context, builder, array, args))
        return context.get_dummy_value()

    return types.none(array, types.intp, array.dtype), codegen


@intrinsic
def load(typingctx, array, at, lanes):
    """array[at : at + lanes]"""
    result = Vector(array.dtype, len(lanes))

    def codegen(context, builder, signature, args):
        vector = context.get_value_type(result)
        address = address_of(context, builder, array, args)
        loaded = builder.load(builder.bitcast(address, vector.as_pointer()))
        loaded.align = context.get_abi_sizeof(vector.element)
        return loaded

    return result(array, types.intp, lanes), codegen


@intrinsic
def store(typingctx, array, at, vector):
    """array[at : at + lanes] = vector"""

    def codegen(context, builder, signature, args):
        address = address_of(context, builder, array, args)
        stored = builder.store(args[2], builder.bitcast(address, args[2].type.as_pointer()))
        stored.align = context.get_abi_sizeof(args[2].type.element)
        return context.get_dummy_value()

    return types.none(array, types.intp, vector), codegen


@intrinsic
def prefetch(typingctx, array, at):
    """Have array[at] brought into the cache; it need not exist."""

    def codegen(context, builder, signature, args):
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        address = builder.bitcast(address_of(context, builder, array, args), byte)
        builder.call(fetch, [address, number(0), number(3), number(1)])  # to read, and keep; data
        return context.get_dummy_value()

    return types.none(array, types.intp), codegen


@intrinsic
def splat(typingctx, number, lanes):
    """The number in every lane."""
    result = Vector(number, len(lanes))

    def codegen(context, builder, signature, args):
        return spread(builder, args[0], context.get_value_type(result))

    return result(number, lanes), codegen


@intrinsic
def total(typingctx, vector):
    """The sum of the lanes, in an order that suits the processor."""

    def codegen(context, builder, signature, args):
        kind = args[0].type
        shape = ir.FunctionType(kind.element, [kind.element, kind])
        name = _name("vector.reduce.fadd", kind)
        reduce = cgutils.get_or_insert_function(builder.module, shape, name)
        zero = ir.Constant(kind.element, -0.0)
        return builder.call(reduce, [zero, args[0]], fastmath=("reassoc",))

    return vector.element(vector), codegen


@intrinsic
def fused(typingctx, factor, vector, sum_):
    """The sum plus factor * vector, rounded once: the same bits in any number of lanes.

    factor: a number or a vector.
    """

    def codegen(context, builder, signature, args):
        factor, vector, sum_ = args
        kind = vector.type
        shape = ir.FunctionType(kind, [kind] * 3)
        fma = cgutils.get_or_insert_function(builder.module, shape, _name("fma", kind))
        wide = factor if factor.type == kind else spread(builder, factor, kind)
        return builder.call(fma, [wide, vector, sum_])

    return vector(factor, vector, sum_), codegen


@intrinsic
def count_above(typingctx, vector, number):
    """How many lanes are above the number."""
    return types.intp(vector, number), _counting(">")


@intrinsic
def count_same(typingctx, vector, number):
    """How many lanes equal the number."""
    return types.intp(vector, number), _counting("==")


@intrinsic
def larger(typingctx, one, other):
    """Lane by lane; ``other`` where one of them is NaN."""

    def codegen(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return one(one, other), codegen


@intrinsic
def where_same(typingctx, one, other, vector):
    """``vector`` in lanes where one equals the other, else zero."""

    def codegen(context, builder, signature, args):
        same = builder.fcmp_ordered("==", *args[:2])
        return builder.select(same, args[2], zero(args[2]))

    return vector(one, other, vector), codegen


@intrinsic
def where_other(typingctx, one, other, vector):
    """Zero in lanes where one equals the other, else ``vector``."""

    def codegen(context, builder, signature, args):
        same = builder.fcmp_ordered("==", *args[:2])
        return builder.select(same, zero(args[2]), args[2])

    return vector(one, other, vector), codegen


@intrinsic
def through_relu(typingctx, gate, vector):
    """``vector`` where ``gate`` is above zero or NaN, else zero."""

    def codegen(context, builder, signature, args):
        gate, vector = args
        return builder.select(builder.fcmp_ordered("<=", gate, zero(gate)), zero(gate), vector)

    return vector(gate, vector), codegen


def address_of(context, builder, array, args):
    data = context.make_array(array)(context, builder, args[0]).data
    return builder.gep(data, [args[1]])


def _name(operation, vector):
    letter = "f32" if isinstance(vector.element, ir.FloatType) else "f64"
    return f"llvm.{operation}.v{vector.count}{letter}"


def _counting(sign):
    def codegen(context, builder, signature, args):
        vector, number = args
        found = builder.fcmp_ordered(sign, vector, spread(builder, number, vector.type))
        bits = builder.bitcast(found, ir.IntType(vector.type.count))
        return builder.zext(builder.ctpop(bits), context.get_value_type(types.intp))

    return codegen


def spread(builder, number, vector):
    first = ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, first)
    every = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, one, every)


def zero(vector):
    return ir.Constant(vector.type, [0.0] * vector.type.count)


def _define(operation, instruction):
    """``operation`` between vectors, or a vector and a number."""

    @intrinsic
    def compute(typingctx, one, other):
        result = one if isinstance(one, Vector) else other

        def codegen(context, builder, signature, args):
            vector = context.get_value_type(result)
            wide = [a if a.type == vector else spread(builder, a, vector) for a in args]
            return getattr(builder, instruction)(*wide)

        return result(one, other), codegen

    @overload(operation)
    def _(one, other):
        if isinstance(one, Vector) or isinstance(other, Vector):
            return lambda one, other: compute(one, other)  # noqa: PLW0108 -- Numba wants its source
        return None


_define(operator.add, "fadd")
_define(operator.mul, "fmul")
