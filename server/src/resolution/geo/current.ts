/**
 * Which data count: `current.json` names them. What a transaction makes count is written beside it before that is committed (`pending.json`):
 * files cannot be taken back, so they count afterwards, and whoever was through and ended in between is finished by the next who looks.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeWhole } from '#host/files.ts';
import type { GeoOwn, GeoSource } from '../../kit/services.ts';
import type { Built } from './build-order.ts';
import { GeoFileRefused } from './builder.ts';

/** What nobody knows of goes when nobody can be making it any more. */
const strayMs = 3_600_000;

export interface Current extends Omit<Built, 'own'> {
  /** without its ending */
  name: string;
  /** of what it was made */
  mark: string;
  /** milliseconds since 1970 */
  builtAt: number;
  /** files of the owner */
  own: { name: string; layers: GeoSource['layer'][] }[];
  /** of the owner as well, and not read, for want of time or memory: they are tried again */
  waiting?: Current['own'];
}
interface Pending extends Current {
  /** in place of which it was made; null: of nothing */
  after: string | null;
}

const isCurrent = (value: unknown): value is Current => {
  const { name, mark, own, sources } = (value ?? {}) as Partial<Current>;
  return (
    typeof name === 'string' &&
    /^places-[0-9a-f]+$/.test(name) &&
    typeof mark === 'string' &&
    Array.isArray(own) &&
    Array.isArray(sources)
  );
};
const isPending = (value: unknown): value is Pending => isCurrent(value) && 'after' in value;

export const ownOf = (own: Current['own']): GeoOwn[] => own.map(({ name, layers }) => ({ file: name, layers }));
const isSame = (one: readonly GeoOwn[], other: readonly GeoOwn[]) => {
  const said = (all: readonly GeoOwn[]) => JSON.stringify(all.map(({ file, layers }) => [file, ...layers]));
  return said(one) === said(other);
};

export class Counting {
  readonly #folder: string;
  readonly #pending: string;
  constructor(folder: string) {
    this.#folder = folder;
    this.#pending = join(folder, 'pending.json');
  }

  get current(): Current | undefined {
    return readJson(join(this.#folder, 'current.json'), isCurrent);
  }
  /** Files of the owner that count, are tried again, or are about to count. */
  knows(file: string): boolean {
    return [this.current, readJson(this.#pending, isPending)].some(one =>
      [...(one?.own ?? []), ...(one?.waiting ?? [])].some(({ name }) => name === file),
    );
  }

  /**
   * What somebody was about to count counts if the rows say so (`counted`: what is committed of them), and is forgotten otherwise. Nobody else
   * is about to meanwhile, or `isHeld` is false: then what is not committed may be yet.
   */
  settle(counted: readonly GeoOwn[], isHeld: boolean): void {
    const pending = readJson(this.#pending, isPending);
    if (!pending) return;
    const { after, ...made } = pending;
    const before = this.current;
    if ((before?.name ?? null) === after && isSame(ownOf(made.own), counted)) return this.#put(made, before);
    const writtenAt = statSync(this.#pending, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (isHeld || writtenAt < Date.now() - strayMs) rmSync(this.#pending, { force: true });
  }

  /** @throws GeoFileRefused when it was not made of what counts now: what came meanwhile would be lost */
  check(made: Current, after: string | undefined, counted: readonly GeoOwn[]): void {
    // a transaction that is tried again checks it again: it is settled by what it says itself
    this.settle(counted, true);
    this.#before(made, after);
    const pending: Pending = { ...made, after: after ?? null };
    writeWhole(this.#pending, JSON.stringify(pending));
  }
  #before(made: Current, after: string | undefined): Current | undefined {
    const before = this.current;
    if (before && before.name !== after && before.name !== made.name)
      throw new GeoFileRefused('other data came meanwhile: send it again');
    return before;
  }

  /** @throws GeoFileRefused */
  count(made: Current, after: string | undefined): void {
    this.#put(made, this.#before(made, after));
  }
  #put(made: Current, before: Current | undefined): void {
    writeWhole(join(this.#folder, 'current.json'), JSON.stringify(made));
    this.forget(made);
    const filesOf = ({ name, own, waiting = [] }: Current) => [
      name,
      ...[...own, ...waiting].map(one => one.name.replace(/\.mmdb$/, '')),
    ];
    const pending = readJson(this.#pending, isPending);
    const kept = [made, ...(pending ? [pending] : [])].flatMap(filesOf);
    const old = before ? filesOf(before) : [];
    for (const file of readdirSync(this.#folder)) {
      const isOf = (names: readonly string[]) => names.some(name => file.startsWith(`${name}.`));
      if (!/^(?:places|own)-/.test(file) || isOf(kept)) continue;
      const path = join(this.#folder, file);
      // what else is there another process may be making just now
      const writtenAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (isOf(old) || writtenAt < Date.now() - strayMs) rmSync(path, { force: true });
    }
  }
  /** It is not about to count any more. */
  forget({ name }: Pick<Current, 'name'>): void {
    if (readJson(this.#pending, isPending)?.name === name) rmSync(this.#pending, { force: true });
  }
}
