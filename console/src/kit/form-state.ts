/**
 * When a field of a form says what is wrong with it. Pure: no React, no antd.
 *
 * A field that was left untouched and empty is quiet; one that was filled in speaks when it is left; one that has spoken is judged again
 * with every change, so that a mended field is quiet at once; after a save was refused all of them speak. What the server said about a
 * field stands until its value changes.
 */
import type { Path } from './form-paths.ts';

const keyOf = (name: Path) => name.join('.');

/** Nothing, for a person who looks at the field. */
export const isBlank = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.every(one => typeof one === 'string' && one.trim() === ''));

/** The same for whoever compares what was typed with what was there: '', null and undefined are one. */
export function isSame(a: unknown, b: unknown): boolean {
  if (isBlank(a) && isBlank(b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false;
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every(name => isSame(one[name], other[name]));
}

export class FormState {
  /** fields that may say what is wrong */
  readonly #speaking = new Set<string>();
  readonly #typed = new Set<string>();
  /** what the server said, and about which value */
  readonly #answers = new Map<string, { text: string; value: string }>();
  #isAsked = false;

  /** The form begins anew. */
  clear(): void {
    this.#speaking.clear();
    this.#typed.clear();
    this.#answers.clear();
    this.#isAsked = false;
  }

  typed(name: Path): void {
    this.#typed.add(keyOf(name));
  }

  /** The person went on to another field. */
  left(name: Path, value: unknown): void {
    if (!isBlank(value) || this.#typed.has(keyOf(name))) this.#speaking.add(keyOf(name));
  }

  /** A save was tried. */
  asked(): void {
    this.#isAsked = true;
  }

  answered(name: Path, text: string, value: unknown): void {
    this.#answers.set(keyOf(name), { text, value: JSON.stringify(value) });
  }

  /** What the server said of the value is not so any more, though the value is as it was. */
  unsay(name: Path): void {
    this.#answers.delete(keyOf(name));
  }

  /** A row of a list was taken away: what was known of it goes, what was known of the rows behind moves up. */
  withoutRow(list: Path, index: number): void {
    const base = `${keyOf(list)}.`;
    const moved = (key: string): string | undefined => {
      if (!key.startsWith(base)) return key;
      const [at, ...rest] = key.slice(base.length).split('.');
      if (Number(at) === index) return undefined;
      return Number(at) > index ? `${base}${[Number(at) - 1, ...rest].join('.')}` : key;
    };
    for (const set of [this.#speaking, this.#typed]) {
      const keys = [...set].map(moved).filter(key => key !== undefined);
      set.clear();
      for (const key of keys) set.add(key);
    }
    const answers = [...this.#answers];
    this.#answers.clear();
    for (const [key, answer] of answers) {
      const to = moved(key);
      if (to !== undefined) this.#answers.set(to, answer);
    }
    // The list has changed by hand: what is wrong with it as a whole may be said.
    this.#speaking.add(keyOf(list));
  }

  /**
   * What each field says now: one sentence a field, the rules' before the server's.
   * @param problems what the rules find in the values as they are
   */
  shown(problems: readonly { name: Path; text: string }[], valueAt: (name: Path) => unknown): Map<string, string> {
    const said = new Map<string, string>();
    for (const { name, text } of problems) {
      const key = keyOf(name);
      if (!said.has(key) && (this.#isAsked || this.#speaking.has(key))) said.set(key, text);
    }
    for (const [key, { text, value }] of this.#answers) {
      const name = key.split('.').map(step => (/^\d+$/.test(step) ? Number(step) : step));
      if (JSON.stringify(valueAt(name)) !== value) this.#answers.delete(key);
      else if (!said.has(key)) said.set(key, text);
    }
    return said;
  }
}

/** The names of the form's fields that a change touched: `{upstreams: [, {port: 1}]}` → `upstreams.1.port`. */
export function changedFields(changed: unknown, fields: readonly string[], at: Path = []): Path[] {
  const pattern = at.map(step => (typeof step === 'number' ? '*' : step)).join('.');
  const isLeaf = at.length > 0 && fields.includes(pattern) && !fields.some(field => field.startsWith(`${pattern}.*.`));
  if (isLeaf || typeof changed !== 'object' || changed === null) return at.length ? [at] : [];
  return Object.entries(changed).flatMap(([step, value]) =>
    value === undefined && Array.isArray(changed)
      ? []
      : changedFields(value, fields, [...at, Array.isArray(changed) ? Number(step) : step]),
  );
}
