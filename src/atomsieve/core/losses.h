/* The losses of one sample: slope, curvature, value, and the Fenchel-Young gap, as in losses/ of the package. */
#ifndef ATOMSIEVE_LOSSES_H
#define ATOMSIEVE_LOSSES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SQUARED, LOGISTIC, HUBER, SQUARED_HINGE, POISSON, LOSSES };

typedef struct {
    int kind;
    double delta; /* of Huber */
} loss_t;

/* exp(x) for x <= 0 to two units in the last place, in plain arithmetic that compilers turn into vectors. */
static inline double exp_down(double x)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to whole numbers */
    double least = x < -708 ? -708 : x, shifted = least * 1.4426950408889634 + magic, k = shifted - magic;
    double r = (least - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10, power;
    double sum = 1.0 / 6227020800 * r + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r * r + r;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52; /* the last bits of the shifted number are those of k */
    memcpy(&power, &bits, sizeof power);
    return power + power * sum;
}

/* log(1 + d) for finite d >= 0, in the same way: a power of two is split off, such that the rest 1 + e lies between
   the roots of 1/2 and 2, and its logarithm is twice the series of atanh(e / (2 + e)). */
static inline double log_up(double d)
{
    double whole = 1 + d, e, k;
    uint64_t bits, power;
    memcpy(&bits, &whole, sizeof bits);
    power = (bits - 0x3fe6a09e667f3bcd) >> 52;
    bits -= power << 52;
    power |= 0x4330000000000000; /* 2^52 and the power, as a double */
    memcpy(&e, &bits, sizeof e);
    memcpy(&k, &power, sizeof k);
    k -= 4503599627370496.0;
    e = k > 0 ? e - 1 : d;
    double s = e / (2 + e), q = s * s, sum = 1.0 / 21;
    for (int odd = 19; odd >= 3; odd -= 2) sum = sum * q + 1.0 / odd;
    return k * 6.93147180369123816490e-01 + (2 * (s + s * q * sum) + k * 1.90821492927058770002e-10);
}

static double clip(double r, double delta) { return r > delta ? delta : r < -delta ? -delta : r; }

/* loss'(u) of every sample */
static void loss_slopes(loss_t loss, ptrdiff_t n, const double *restrict u, const double *restrict y,
                        double *restrict slope)
{
    switch (loss.kind) {
    case SQUARED:
        for (ptrdiff_t i = 0; i < n; i++) slope[i] = u[i] - y[i];
        break;
    case LOGISTIC:
#pragma omp simd
        for (ptrdiff_t i = 0; i < n; i++) {
            double margin = y[i] * u[i], decay = exp_down(-fabs(margin));
            slope[i] = -y[i] * (margin > 0 ? decay : 1.0) / (1 + decay);
        }
        break;
    case HUBER:
        for (ptrdiff_t i = 0; i < n; i++) slope[i] = clip(u[i] - y[i], loss.delta);
        break;
    case SQUARED_HINGE:
        for (ptrdiff_t i = 0; i < n; i++) slope[i] = -y[i] * fmax(1 - y[i] * u[i], 0.0);
        break;
    default:
        for (ptrdiff_t i = 0; i < n; i++) slope[i] = exp(u[i]) - y[i];
    }
}

/* w loss''(u) of every sample; returns the largest loss''. With caution c > 0 the curvature goes up, by that part, to
   one that bounds the loss on its way to the minimum (for Poisson: to that at the minimum), so that steps are short. */
static double loss_curvatures(loss_t loss, ptrdiff_t n, const double *restrict u, const double *restrict y,
                              const double *restrict slope, const double *restrict w, double c, double *restrict h)
{
    double largest = 0;
    switch (loss.kind) {
    case SQUARED:
        for (ptrdiff_t i = 0; i < n; i++) h[i] = w[i];
        return 1.0;
    case LOGISTIC:
        for (ptrdiff_t i = 0; i < n; i++) {
            double p = fabs(slope[i]), margin = y[i] * u[i], bound = fabs(margin) > 1e-3 ? (0.5 - p) / margin : 0.25;
            h[i] = w[i] * (p * (1 - p) + (c > 0 ? c * (bound - p * (1 - p)) : 0));
        }
        return 0.25;
    case HUBER:
        for (ptrdiff_t i = 0; i < n; i++) {
            double away = fabs(u[i] - y[i]);
            h[i] = w[i] * (away <= loss.delta ? 1 : c * loss.delta / away);
        }
        return 1.0;
    case SQUARED_HINGE:
        for (ptrdiff_t i = 0; i < n; i++) h[i] = y[i] * u[i] < 1 ? w[i] : c * w[i];
        return 1.0;
    default:
        for (ptrdiff_t i = 0; i < n; i++) {
            double rate = slope[i] > -y[i] / 2 ? slope[i] + y[i] : exp(u[i]);
            if (rate < y[i]) rate += c * (y[i] - rate);
            if (w[i] > 0) largest = fmax(largest, rate);
            h[i] = w[i] * rate;
        }
        return largest;
    }
}

static double weighted_square(const double *restrict v, const double *restrict w, ptrdiff_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) sum += w[i] * v[i] * v[i];
    return sum;
}

/* exp(v) - 1 - v, by its series where the difference would cancel */
static double beyond_linear(double v)
{
    if (fabs(v) > 0.01) return expm1(v) - v;
    return v * v / 2 * (1 + v / 3 * (1 + v / 4 * (1 + v / 5 * (1 + v / 6 * (1 + v / 7)))));
}

static double loss_value(loss_t loss, ptrdiff_t n, const double *restrict u, const double *restrict y,
                         const double *restrict slope, const double *restrict w)
{
    double sum = 0;
    if (loss.kind == LOGISTIC) {
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t i = 0; i < n; i++) { /* exp(-|margin|) is the ratio of the probabilities, known by the slope */
            double margin = y[i] * u[i], p = fabs(slope[i]), r = 1 - p;
            sum += w[i] * ((margin < 0 ? -margin : 0) + log_up(margin < 0 ? r / p : p / r));
        }
        return sum;
    }
    if (loss.kind == SQUARED || loss.kind == SQUARED_HINGE) return weighted_square(slope, w, n) / 2;
    for (ptrdiff_t i = 0; i < n; i++) {
        double v = y[i] > 0 ? u[i] - log(y[i]) : 0;
        if (loss.kind == HUBER) sum += w[i] * slope[i] * (u[i] - y[i] - slope[i] / 2);
        else sum += w[i] * (y[i] > 0 ? y[i] * beyond_linear(v) : exp(u[i]));
    }
    return sum;
}

/* Kullback and Leibler's q log(q / r) - q + r, where its terms do not cancel if q is near r. */
static double relative_entropy(double q, double r)
{
    double part = r > 0 ? (q - r) / r : 1;
    if (fabs(part) < 0.5) return r * ((1 + part) * log1p(part) - part);
    return q > 0 ? q * log(q / r) - q + r : r;
}

/* The same for Logistic, between two coins: the probabilities of error are p = |loss'(u)| and q = scale * p. */
static double between_coins(ptrdiff_t n, const double *restrict u, const double *restrict y,
                            const double *restrict slope, const double *restrict w, double scale)
{
    double sum = 0, rest = 1 - scale, error = relative_entropy(scale, 1);
    ptrdiff_t far = 0;
#pragma omp simd reduction(+ : sum) reduction(+ : far)
    for (ptrdiff_t i = 0; i < n; i++) {
        double margin = y[i] * u[i], decay = exp_down(-fabs(margin)), p = fabs(slope[i]);
        double right = (margin > 0 ? 1 : decay) / (1 + decay), part = rest * (margin > 0 ? decay : 1 / decay);
        double apart = p * error + right * ((1 + part) * log_up(part) - part);
        int near = margin > -30;
        far += !near;
        sum += w[i] * (near ? apart : 0);
    }
    for (ptrdiff_t i = 0; far && scale < 1 && i < n; i++) { /* 1 - p may be too small to be a number */
        double margin = y[i] * u[i], tail = exp(margin), right = rest + scale * tail; /* 1 - q */
        if (margin > -30) continue;
        sum += w[i] * (right * (log(right) - margin) + (right < 1 ? (1 - right) * log1p(-right) : 0) + tail);
    }
    return sum;
}

/* The sum of w (loss(u) + loss*(t) - t u) at the slopes t = scale * loss'(u), for 0 <= scale <= 1. */
static double fenchel_young(loss_t loss, ptrdiff_t n, const double *restrict u, const double *restrict y,
                            const double *restrict slope, const double *restrict w, double scale)
{
    double sum = 0;
    if (loss.kind == LOGISTIC) return between_coins(n, u, y, slope, w, scale);
    if (loss.kind == SQUARED || loss.kind == SQUARED_HINGE)
        return (1 - scale) * (1 - scale) * weighted_square(slope, w, n) / 2;
    for (ptrdiff_t i = 0; i < n; i++) {
        double g = slope[i], less = (1 - scale) * g, apart;
        if (loss.kind == HUBER)
            apart = less * (u[i] - y[i] - (g - less / 2));
        else {
            double rate = g > -y[i] / 2 ? g + y[i] : exp(u[i]), wanted = rate - less;
            /* exp(u) may be too small to be a number */
            apart = rate > 1e-300 || !(wanted > 0) ? relative_entropy(wanted, rate)
                                                   : wanted * (log(wanted) - u[i] - 1) + rate;
        }
        sum += w[i] * apart;
    }
    return sum;
}

#endif
