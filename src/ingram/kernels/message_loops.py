"""The compiled loops behind :mod:`ingram.kernels.edge_messages`."""

# mypy: ignore-errors
from __future__ import annotations

from ingram.kernels.adjacency import end_of_run
from ingram.kernels.parallel import compiled_fast, inlined_fast
from ingram.kernels.teams import fork
from ingram.kernels.vectors import fused, get, larger, load, splat, store, where_other, where_same


@compiled_fast
def forward(where, *arguments):
    return fork(where, _forward, arguments)


@inlined_fast
def _forward(start, stop, lanes, states, weights, rows, scale, pointers, sources, kinds, out, kept):
    """Rows start : stop of Q * N: even one query is shared among threads."""
    count, width = states.shape[1:]
    for row in range(start, stop):
        q, v = row // count, row % count
        state, weight = q * count * width, rows[q] * weights.shape[1] * width
        first, last = get(pointers, v), get(pointers, v + 1)
        for c in range(0, width, len(lanes)):
            total, run = splat(scale.dtype.type(0), lanes), first
            while run < last:
                end = end_of_run(kinds, run, last)
                arrived = splat(scale.dtype.type(0), lanes)
                for e in range(run, end):
                    arrived = arrived + load(states, state + get(sources, e) * width + c, lanes)
                kind = load(weights, weight + get(kinds, run) * width + c, lanes)
                total = fused(arrived, kind, total)
                run = end
            store(out, row * width + c, total * get(scale, v))


@compiled_fast
def forward_with_maxima(where, *arguments):
    return fork(where, _forward_with_maxima, arguments)


@inlined_fast
def _forward_with_maxima(
    start, stop, lanes, states, weights, rows, scale, pointers, sources, kinds, out, kept
):
    count, width = states.shape[1:]
    for row in range(start, stop):
        q, v = row // count, row % count
        state, weight = q * count * width, rows[q] * weights.shape[1] * width
        first, last = get(pointers, v), get(pointers, v + 1)
        for c in range(0, width, len(lanes)):
            total, run = splat(scale.dtype.type(0), lanes), first
            best = total
            if first < last:
                best = load(states, state + get(sources, first) * width + c, lanes)
                best = best * load(weights, weight + get(kinds, first) * width + c, lanes)
            while run < last:
                end = end_of_run(kinds, run, last)
                kind = load(weights, weight + get(kinds, run) * width + c, lanes)
                for e in range(run, end):
                    message = load(states, state + get(sources, e) * width + c, lanes) * kind
                    total = total + message
                    best = larger(message, best)
                run = end
            store(out, 2 * row * width + c, total * get(scale, v))
            store(out, (2 * row + 1) * width + c, best)
            if len(kept) > 0:
                store(kept, row * width + c, best)


@compiled_fast
def backward(where, *arguments):
    return fork(where, _backward, arguments)


@inlined_fast
def _backward(
    start, stop, lanes, grad, kept, states, weights, rows, scale, pointers, sources, kinds,
    d_states, d_each,
):  # fmt: skip
    count, width = states.shape[1:]
    for q in range(start, stop):
        state, weight = q * count * width, rows[q] * weights.shape[1] * width
        d_weight = q * weights.shape[1] * width
        for v in range(count):
            first, last = get(pointers, v), get(pointers, v + 1)
            for c in range(0, width, len(lanes)):
                scaled = load(grad, state + v * width + c, lanes) * get(scale, v)
                run = first
                while run < last:
                    end = end_of_run(kinds, run, last)
                    k = get(kinds, run) * width + c
                    back = scaled * load(weights, weight + k, lanes)
                    arrived = splat(scale.dtype.type(0), lanes)
                    for e in range(run, end):
                        x = state + get(sources, e) * width + c
                        arrived = arrived + load(states, x, lanes)
                        store(d_states, x, load(d_states, x, lanes) + back)
                    d_kind = load(d_each, d_weight + k, lanes)
                    store(d_each, d_weight + k, fused(scaled, arrived, d_kind))
                    run = end


@compiled_fast
def backward_with_maxima(where, *arguments):
    return fork(where, _backward_with_maxima, arguments)


@inlined_fast
def _backward_with_maxima(
    start, stop, lanes, grad, kept, states, weights, rows, scale, pointers, sources, kinds,
    d_states, d_each,
):  # fmt: skip
    count, width = states.shape[1:]
    for q in range(start, stop):
        state, weight = q * count * width, rows[q] * weights.shape[1] * width
        d_weight = q * weights.shape[1] * width
        for v in range(count):
            first, last = get(pointers, v), get(pointers, v + 1)
            at = state + v * width
            for c in range(0, width, len(lanes)):
                scaled = load(grad, 2 * at + c, lanes) * get(scale, v)
                of_best = load(grad, 2 * at + width + c, lanes)
                best = load(kept, at + c, lanes)
                run = first
                while run < last:
                    end = end_of_run(kinds, run, last)
                    k = get(kinds, run) * width + c
                    kind = load(weights, weight + k, lanes)
                    d_kind = load(d_each, d_weight + k, lanes)
                    for e in range(run, end):
                        x = state + get(sources, e) * width + c
                        source = load(states, x, lanes)
                        message = source * kind
                        back = scaled + where_same(message, best, of_best)
                        of_best = where_other(message, best, of_best)  # the first has it all
                        store(d_states, x, fused(back, kind, load(d_states, x, lanes)))
                        d_kind = fused(back, source, d_kind)
                    store(d_each, d_weight + k, d_kind)
                    run = end
