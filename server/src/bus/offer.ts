/** The version this installation gives to nodes: what `npm run bundle` made, signed, and how a node comes to it. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Bundle, isBundle } from '#contract/node/bundle.ts';
import { readJson } from '#host/files.ts';
import type { NodeOffer } from '../kit/services.ts';
import { Signer } from './credentials.ts';

/** As long as a node may take to fetch it. */
const ticketMs = 6 * 3_600_000;

const textOf = ({ version, node, packages, application, runtime }: Bundle) =>
  JSON.stringify({ version, node, packages, application, runtime });
/** Tells bundles apart, whatever they call themselves: other archives are another one. */
const hashOf = (bundle: Bundle) => createHash('sha256').update(textOf(bundle)).digest('hex');

export class Offer implements NodeOffer {
  readonly folder: string;
  readonly #signer: Signer;
  readonly #key: Buffer;

  constructor(folder: string, documentSeed: string) {
    this.folder = folder;
    this.#signer = new Signer(documentSeed);
    this.#key = createHmac('sha256', documentSeed).update('bundle tickets').digest();
  }

  /** A new one counts without a restart. */
  bundle(): Bundle | undefined {
    return readJson(join(this.folder, 'bundle.json'), isBundle);
  }
  /** What is here as a whole: a list whose archives are not beside it is nothing that could be given. */
  held(): { version: string; hash: string } | undefined {
    const bundle = this.bundle();
    if (!bundle) return undefined;
    const isHere = ({ file, bytes }: Bundle['runtime']) =>
      statSync(join(this.folder, file), { throwIfNoEntry: false })?.size === bytes;
    return isHere(bundle.application) && isHere(bundle.runtime) ? { version: bundle.version, hash: hashOf(bundle) } : undefined;
  }
  get hash(): string | undefined {
    const bundle = this.bundle();
    return bundle && hashOf(bundle);
  }

  /** What a node is told; undefined: there is nothing to give. */
  command(nodeID: number): { version: string; body: { manifest: string; signature: string; path: string } } | undefined {
    const bundle = this.bundle();
    if (!bundle) return undefined;
    const manifest = textOf(bundle);
    const what = `${nodeID}.${(Date.now() + ticketMs).toString(36)}.${hashOf(bundle).slice(0, 12)}`;
    const path = `/bundle/${what}.${this.#mark(what)}`;
    return { version: bundle.version, body: { manifest, signature: this.#signer.bundle(manifest), path } };
  }

  /** Whose ticket this is that we gave lately, and whether we have what it is for: another machine of ours may. undefined: nobody's */
  opens(ticket: string): { nodeID: number; isHeld: boolean } | undefined {
    const [, what, nodeID, until, hash, mark] = /^((\d{1,15})\.([0-9a-z]{1,12})\.([\da-f]{12}))\.([\w-]{43})$/.exec(ticket) ?? [];
    if (!what || !nodeID || !until || !hash || !mark || Number.parseInt(until, 36) < Date.now()) return undefined;
    if (!timingSafeEqual(Buffer.from(mark), Buffer.from(this.#mark(what)))) return undefined;
    return { nodeID: Number(nodeID), isHeld: this.held()?.hash.startsWith(hash) ?? false };
  }
  #mark(what: string): string {
    return createHmac('sha256', this.#key).update(what).digest('base64url');
  }
}
