/* Coordinate descent on a model: each block to its minimum, the others fixed. */
#ifndef ATOMSIEVE_DESCENT_H
#define ATOMSIEVE_DESCENT_H

#include "split.h"

#define AHEAD 2 /* steps before its own that a sparse column is asked for */

/* The minimum over one block of several entries, all others fixed; returns its norm. In the basis of the eigenvectors
   of its Hessian it is q / (c + charge / rho) with the norm rho, which Newton's method finds. */
static double minimise_block(model *o, ptrdiff_t k, const double *z, double *aim, double charge, double *target)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    const double *vectors = o->vectors + o->corner[k], *value = o->values + first, *x = o->x + first;
    double extra = t->b * t->price[k] * t->price[k], length = 0, steepest = 0, rho = 0;
    for (ptrdiff_t j = 0; j < size; j++) { /* q = H x + z in the new basis */
        const double *v = vectors + j * size;
        aim[j] = value[j] * dot(v, x, size) + dot(v, z, size);
        length += aim[j] * aim[j];
        steepest = fmax(steepest, value[j] + extra);
    }
    length = sqrt(length);
    memset(target, 0, (size_t)size * sizeof *target);
    if (!(length > charge) || !(steepest > 0)) return 0;
    rho = (length - charge) / steepest; /* a lower bound */
    for (int tries = 0; tries < 50; tries++) {
        double sum = 0, rate = 0;
        for (ptrdiff_t j = 0; j < size; j++) {
            double c = value[j] + extra, below = c * rho + charge, w = aim[j] / below;
            sum += w * w;
            rate += w * w * c / below;
        }
        double change = (sqrt(sum) - 1) * sum / rate;
        rho += change;
        if (!(fabs(change) > 1e-15 * rho)) break;
    }
    if (!isfinite(rho) || !(rho > 0)) { /* there is nothing to hold the block back */
        memcpy(target, x, (size_t)size * sizeof *target);
        return block_norm(t, o->x, k);
    }
    double norm = 0;
    for (ptrdiff_t j = 0; j < size; j++)
        axpy(aim[j] / (value[j] + extra + charge / rho), vectors + j * size, target, size);
    for (ptrdiff_t i = 0; i < size; i++) norm += target[i] * target[i];
    return sqrt(norm);
}

/* Minimise the model over entry e, which is block k, all others fixed. */
static void step_entry(model *o, ptrdiff_t k, ptrdiff_t e, record *seen)
{
    const task *t = o->t;
    double price = t->price[k], curvature = o->steepest[k];
    double x = o->x[e], z = pull_in(o, k, e), held = price * fabs(x), slope = slope_of(t, o->mass);
    double borne = t->lower ? left_to_bear(t, e, x, z, slope) : z, score = entry_score(t, e, borne, k);
    if (score > seen->top) seen->top = score;
    if (x != 0) seen->slack += fabs(t->lower ? slack_of(t, e, x, borne, slope) : slope * held - x * z);
    double aim = curvature * x + z, charge = price * slope_of(t, fmax(o->mass - held, 0));
    if (!(curvature > 0)) { /* an entry that changes nothing costs what it holds */
        double saved = charge + t->b * price * held / 2 - fabs(z);
        if (x == 0 || !(saved >= 0)) return;
        seen->fall += saved * fabs(x - within_limits(t, e, 0));
        aim = 0;
    }
    double whole = curvature + t->b * price * price, to = 0;
    /* without a branch for the sign, which no processor can guess */
    double far = (t->negative[e] ? fabs(aim) : aim) - charge;
    if (far > 0) to = copysign(far, t->negative[e] ? aim : 1) / whole;
    to = within_limits(t, e, to);
    double change = to - x;
    if (change == 0) return;
    o->x[e] = to;
    o->mass += price * (fabs(to) - fabs(x));
    push_in(o, k, e, change);
    seen->fall += whole * change * change / 2;
}

/* Minimise the model over one block of several entries that is not split, all others fixed (over a bound of it, if the
   block is wide). */
static void step(model *o, ptrdiff_t k, record *seen)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    double price = t->price[k], curvature = o->steepest[k];
    double *z = o->work, *aim = o->work + size, *target = aim + size, norm = block_norm(t, o->x, k), product = 0;
    double held = price * norm, slope = slope_of(t, o->mass), charge = price * slope_of(t, fmax(o->mass - held, 0)), to;
    block_pulls(o, k, z);
    double score = sqrt(dot(z, z, size)) / price;
    if (score > seen->top) seen->top = score;
    for (ptrdiff_t i = 0; i < size; i++) product += o->x[first + i] * z[i];
    if (norm > 0) seen->slack += fabs(slope * held - product);
    if (!(curvature > 0)) { /* a block that changes nothing costs what it holds */
        double saved = charge + t->b * price * held / 2 - score * price;
        if (norm == 0 || !(saved >= 0)) return;
        seen->fall += saved * norm;
        to = 0;
        memset(target, 0, (size_t)size * sizeof *target);
    } else if (norm == 0 && score * price <= charge)
        return;
    else if (o->corner[k] >= 0)
        to = minimise_block(o, k, z, aim, charge, target);
    else {
        for (ptrdiff_t i = 0; i < size; i++) aim[i] = curvature * o->x[first + i] + z[i];
        double length = sqrt(dot(aim, aim, size));
        to = length > charge ? (length - charge) / (curvature + t->b * price * price) : 0;
        for (ptrdiff_t i = 0; i < size; i++) target[i] = to > 0 ? aim[i] / length * to : 0;
    }
    double moved = 0;
    int any = 0;
    for (ptrdiff_t i = 0; i < size; i++) {
        double change = target[i] - o->x[first + i];
        o->x[first + i] = target[i];
        target[i] = change;
        moved += change * change;
        any |= change != 0;
    }
    if (any) push_block(o, k, target);
    o->mass += price * (to - norm);
    seen->fall += fmax(curvature, 0) * moved / 2;
}

/* The pulls on the entries of a block, as the Gram matrix knows them; with `live` on those that carry weight. */
static const double *known_pulls(model *o, ptrdiff_t k, int live)
{
    const task *t = o->t;
    ptrdiff_t first = t->start[k], size = t->start[k + 1] - first;
    if (!t->split[k]) return o->z + o->place[first];
    for (ptrdiff_t i = 0; i < size; i++)
        o->work[i] = live && o->x[first + i] == 0 ? 0 : o->z[o->place[first + i]];
    return o->work;
}

/* Step over some blocks, or over what is live of them, and estimate the gap that is left: exactly where z is known, else
   from what was seen. */
static double sweep(model *o, const ptrdiff_t *blocks, ptrdiff_t count, int live, double *fall)
{
    const task *t = o->t;
    record seen = {0, 0, 0}, exact = {0, 0, 0};
    o->mass = mass_of(t, o->x);
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = blocks[i];
        if (t->single) {
            if (!o->by_gram && i + AHEAD < count) column_fetch(&t->columns[blocks[i + AHEAD]]);
            step_entry(o, k, k, &seen);
        } else if (t->split[k]) step_split(o, k, live, &seen);
        else if (t->start[k + 1] - t->start[k] == 1) step_entry(o, k, t->start[k], &seen);
        else step(o, k, &seen);
    }
    *fall = seen.fall;
    if (!o->by_gram) return gap_of(t, o->mass, fmax(seen.top, slope_of(t, o->mass)), seen.slack, o->value);
    double slope = slope_of(t, o->mass);
    for (ptrdiff_t i = 0; i < count; i++)
        tally(t, o->x, known_pulls(o, blocks[i], live), blocks[i], slope, &exact);
    return gap_of(t, o->mass, exact.top, exact.slack, o->value);
}

#endif
