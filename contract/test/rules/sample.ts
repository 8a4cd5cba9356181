import type { Rule } from '#contract/rules.ts';

/** A value that breaks a rule, with what the form is told: `rule path`, or several of them. */
export type Sample = [value: unknown, expected: string | string[], context?: unknown];
/** One statement of a bullet of §5. A good sample may be given as `{value, context}`. */
export type Line = { line: number; says: string; rule: Rule<any, any>; good: unknown[]; bad: Sample[] };

export const now = Date.parse('2026-03-01T12:00:00Z');
export const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
