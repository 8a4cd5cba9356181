/** The version this installation gives to nodes: what `npm run bundle` made, signed, and how a node comes to it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { type Bundle, isBundle } from '#contract/node/bundle.ts';
import { readJson } from '#host/files.ts';
import type { NodeOffer } from '../kit/services.ts';
import { Signer } from './credentials.ts';

/** As long as a node may take to fetch it. */
const ticketMs = 6 * 3_600_000;

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

  /** What a node is told; undefined: there is nothing to give. */
  command(nodeID: number): { version: string; body: { manifest: string; signature: string; path: string } } | undefined {
    const bundle = this.bundle();
    if (!bundle) return undefined;
    const { version, node, packages, application, runtime } = bundle;
    const manifest = JSON.stringify({ version, node, packages, application, runtime });
    const until = (Date.now() + ticketMs).toString(36);
    const path = `/bundle/${nodeID}.${until}.${this.#mark(nodeID, until)}`;
    return { version, body: { manifest, signature: this.#signer.bundle(manifest), path } };
  }

  /** @returns the node that we gave this ticket, lately */
  opens(ticket: string): number | undefined {
    const [, nodeID, until, mark] = /^(\d{1,15})\.([0-9a-z]{1,12})\.([\w-]{43})$/.exec(ticket) ?? [];
    if (!nodeID || !until || !mark || Number.parseInt(until, 36) < Date.now()) return undefined;
    return timingSafeEqual(Buffer.from(mark), Buffer.from(this.#mark(Number(nodeID), until))) ? Number(nodeID) : undefined;
  }
  #mark(nodeID: number, until: string): string {
    return createHmac('sha256', this.#key).update(`${nodeID} ${until}`).digest('base64url');
  }
}
