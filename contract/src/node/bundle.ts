/** What a node of another machine runs: two archives, listed in `bundle.json` (bin/bundle/make.ts writes it, the server hands it out). */
export interface Packed {
  file: string;
  /** of the archive, hex */
  sha256: string;
  bytes: number;
  /** of what is in it, before it was compressed; hex */
  tree: string;
}
export interface Bundle {
  version: string;
  /** of the runtime */
  node: string;
  /** of Debian, that it needs */
  packages: string[];
  application: Packed;
  runtime: Packed;
}

const isPacked = (value: unknown): value is Packed => {
  const { file, sha256, bytes, tree } = (value ?? {}) as Partial<Packed>;
  return (
    typeof file === 'string' &&
    /^(application|runtime)-[\da-f]{12}\.tar\.gz$/.test(file) &&
    typeof sha256 === 'string' &&
    /^[\da-f]{64}$/.test(sha256) &&
    typeof tree === 'string' &&
    Number.isSafeInteger(bytes)
  );
};
export const isBundle = (value: unknown): value is Bundle => {
  const { version, node, packages, application, runtime } = (value ?? {}) as Partial<Bundle>;
  return (
    typeof version === 'string' &&
    /^[\w.-]{1,64}$/.test(version) &&
    typeof node === 'string' &&
    Array.isArray(packages) &&
    packages.every(name => typeof name === 'string' && /^[a-z\d.+-]+$/.test(name)) &&
    isPacked(application) &&
    isPacked(runtime)
  );
};

/** A node and its server understand each other when no more releases lie between them. */
export const releasesMost = 2;
/** The last minor number of each major one that is over, from 0 on: whoever makes the first release of a new one adds a number here. */
export const lastMinors: readonly number[] = [];
function releaseOf(text: string): { major: number; minor: number } | undefined {
  const found = /^(\d{1,6})\.(\d{1,6})\./.exec(text);
  return found ? { major: Number(found[1]), minor: Number(found[2]) } : undefined;
}
/** A node may say anything. */
export const isRelease = (text: string): boolean => releaseOf(text) !== undefined;
/** How many releases lie between two versions. What is no version of ours is as far as it can be, as is a major number we do not know. */
export function releasesApart(one: string, other: string, lasts: readonly number[] = lastMinors): number {
  const [a, b] = [releaseOf(one), releaseOf(other)];
  if (!a || !b) return Number.POSITIVE_INFINITY;
  if (a.major === b.major) return Math.abs(a.minor - b.minor);
  const [low, high] = a.major < b.major ? [a, b] : [b, a];
  if (high.major > lasts.length) return Number.POSITIVE_INFINITY;
  // a release of a major number that is over, and after the last one of it: one of both is wrong, and nobody knows which
  if (low.minor > lasts[low.major]!) return Number.POSITIVE_INFINITY;
  // the first release of a major number follows the last one before
  const between = lasts.slice(low.major + 1, high.major).reduce((sum, last) => sum + last + 1, 0);
  return Math.max(0, lasts[low.major]! - low.minor) + between + high.minor + 1;
}
