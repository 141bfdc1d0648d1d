"""Loops on a team of threads, begun and ended without the interpreter.

Python would hand its lock from thread to thread before the loops begin and after they end, a tenth
of a millisecond each time: in a small graph as much as some loops take.
"""

# mypy: ignore-errors
from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

BYTE, NUMBER = ir.IntType(8), ir.IntType(64)


@intrinsic
def fork(typingctx, where, loop, arguments):
    """Call ``loop(start, stop, *arguments)`` on ranges that make up some units.

    where: address of GNU OpenMP's GOMP_parallel or 0, number of its threads, number of ranges,
    first unit, and the one after the last. Without an address all is done on this thread. Returns
    whether all went well; what goes wrong in such a loop is memory.
    """
    signature = loop.get_call_type(typingctx, (types.intp, types.intp, *arguments), {})
    result = types.boolean(where, loop, arguments)

    def codegen(context, builder, _, given):
        where_value, _, argument_value = given
        compiled = loop.dispatcher.get_compile_result(signature)
        context.add_linking_libs((compiled.library,))
        team, threads, ranges, first, last = cgutils.unpack_tuple(builder, where_value)
        shared = [NUMBER(0), ranges, first, last, NUMBER(0), argument_value]
        record = cgutils.alloca_once(builder, ir.LiteralStructType([v.type for v in shared]))
        for i, value in enumerate(shared):
            builder.store(value, cgutils.gep_inbounds(builder, record, 0, i))
        work = _worker(context, builder.module, record.type, compiled.fndesc, signature, arguments)
        data = builder.bitcast(record, BYTE.as_pointer())
        alone = builder.icmp_signed("==", team, NUMBER(0))
        with builder.if_else(alone) as (by_itself, by_team):
            with by_itself:
                builder.call(work, [data])
            with by_team:
                small = ir.IntType(32)
                kind = ir.FunctionType(
                    ir.VoidType(), [work.type, data.type, small, small]
                ).as_pointer()
                begin = builder.inttoptr(team, kind)
                builder.call(begin, [work, data, builder.trunc(threads, small), small(0)])
        failures = builder.load(cgutils.gep_inbounds(builder, record, 0, 4))
        return builder.icmp_signed("==", failures, NUMBER(0))

    return result, codegen


def _worker(context, module, record_type, described, signature, arguments):
    """What each thread does: take ranges until none is left."""
    name = module.get_unique_name("ingram_team_worker")
    kind = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer()])
    work = ir.Function(module, kind, name)
    work.linkage = "internal"
    builder = ir.IRBuilder(work.append_basic_block("entry"))
    record = builder.bitcast(work.args[0], record_type)
    turn, ranges, first, last, failures, packed = (
        cgutils.gep_inbounds(builder, record, 0, i) for i in range(6)
    )
    ranges, first, last, packed = map(builder.load, (ranges, first, last, packed))
    values = cgutils.unpack_tuple(builder, packed)
    begin, body, end = (work.append_basic_block(n) for n in ("begin", "body", "end"))
    builder.branch(begin)
    builder.position_at_end(begin)
    i = builder.atomic_rmw("add", turn, NUMBER(1), "monotonic")
    builder.cbranch(builder.icmp_signed("<", i, ranges), body, end)
    builder.position_at_end(body)

    def bound(index):
        return builder.add(
            first, builder.sdiv(builder.mul(builder.sub(last, first), index), ranges)
        )

    ends = [bound(i), bound(builder.add(i, NUMBER(1)))]
    status, _ = context.call_internal_no_propagate(builder, described, signature, [*ends, *values])
    with builder.if_then(status.is_error):
        builder.store(NUMBER(1), failures)
    builder.branch(begin)
    builder.position_at_end(end)
    builder.ret_void()
    return work
