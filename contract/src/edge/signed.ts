/**
 * What the installation's document key (Ed25519, its public half pinned by a node when it joins) signs: documents as they go out, chunks
 * of documents a node asked for, and commands. The bus carries them; it is not believed.
 */
import * as z from 'zod/mini';

/** Header names. */
export const signed = {
  /** number of a document in its zone: rises by one, for ever; after a gap a node asks for what it missed */
  number: 'Bw-N',
  /** which life of the numbers' world it is */
  epoch: 'Bw-Epoch',
  signature: 'Bw-Sig',
  /** which question a chunk answers */
  request: 'Bw-Request',
} as const;

export interface DocumentFacts {
  zoneID: number;
  epoch: string;
  n: number;
  subject: string;
}
/** `sha256`: lower-case hex of the body's bytes */
export const documentText = ({ zoneID, epoch, n, subject }: DocumentFacts, sha256: string) =>
  `doc|${zoneID}|${epoch}|${n}|${subject}|${sha256}`;
export const chunkText = (nodeID: number, request: string, sha256: string) => `chunk|${nodeID}|${request}|${sha256}`;

/** `sha256`: of the list of what a node runs (node/bundle.ts) */
export const bundleText = (sha256: string) => `bundle|${sha256}`;

/**
 * At most so many documents, and about so many bytes before compression, in one chunk. The bytes are what should bind: a node may ask
 * only so often (server/src/bus/pace.ts), and a zone of 100,000 domains is some fifty chunks of a megabyte.
 */
export const chunkLimits = { documents: 4096, bytes: 1_000_000 } as const;
/** What a document adds to a chunk beside its body: subject, number, signs. */
export const chunkHeadBytes = 50;
/** One document and a chunk's bytes before it may come together. */
export const chunkBytesMost = 4_050_000;

/** What a node asks: documents after `after` in this epoch; `whole`: it is reading all of them and will drop what is not among them. */
export const SyncRequest = z.object({
  id: z.string().check(z.regex(/^[A-Za-z0-9_-]{8,32}$/)),
  epoch: z.string().check(z.maxLength(64)),
  after: z.int().check(z.gte(0)),
  zoneID: z.nullable(z.int().check(z.gte(1))),
  whole: z.boolean(),
});
export type SyncRequest = z.infer<typeof SyncRequest>;

/** The answer, zstd-compressed JSON. */
export const Chunk = z.object({
  /** the node's zone as the control plane knows it; null: none, and then there are no documents */
  zoneID: z.nullable(z.int()),
  epoch: z.string(),
  /** numbers in the asked epoch mean nothing any more, or what was removed meanwhile is forgotten: all documents follow from 0 on */
  whole: z.boolean(),
  after: z.int(),
  /** with these documents the node is here */
  n: z.int(),
  /** the node asks on from `n` */
  more: z.boolean(),
  /** subject, number, body ('' = gone), in the order of numbers */
  documents: z.array(z.tuple([z.string(), z.int(), z.string()])),
});
export type Chunk = z.infer<typeof Chunk>;

/** `live.<zone>.tick`. `by` names the relay that says so, anew each time one becomes active; an older server does not tell. */
export const Tick = z.object({ n: z.int(), epoch: z.string(), by: z.optional(z.string().check(z.maxLength(32))) });
export type Tick = z.infer<typeof Tick>;

/** A command as it travels: its text and the signature over it. */
export const Command = z.object({
  node: z.int(),
  verb: z.string().check(z.maxLength(32)),
  /** milliseconds since 1970 after which it is void */
  expires: z.int(),
  /** rises with each command of a node: the same or a lower one again does nothing */
  count: z.int(),
  body: z.string().check(z.maxLength(60_000)),
});
export type Command = z.infer<typeof Command>;
export const SignedCommand = z.object({ ...Command.shape, signature: z.string().check(z.maxLength(200)) });
export const commandText = ({ node, verb, expires, count }: Command, sha256: string) =>
  `cmd|${node}|${count}|${expires}|${verb}|${sha256}`;

/** A node names at most so many documents that it refuses: with their reasons, cut, they fit into a heartbeat. */
export const refusedNamedMost = 100;
