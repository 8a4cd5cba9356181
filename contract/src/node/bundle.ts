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
/** How many releases lie between two versions. What is no version of ours is as far as it can be: a node may say anything. */
export function releasesApart(one: string, other: string): number {
  const [a, b] = [one, other].map(text => /^(\d+)\.(\d+)\./.exec(text));
  if (!a || !b) return Number.POSITIVE_INFINITY;
  return a[1] === b[1] ? Math.abs(Number(a[2]) - Number(b[2])) : Number.POSITIVE_INFINITY;
}
