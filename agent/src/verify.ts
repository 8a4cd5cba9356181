/** Checks what the bus carries against the installation's document key, pinned when this node joined. Ed25519: 80 µs. */
import { type KeyObject, createHash, createPublicKey, verify } from 'node:crypto';
import { type Command, type DocumentFacts, bundleText, chunkText, commandText, documentText } from '#contract/edge/signed.ts';

/** SubjectPublicKeyInfo of an Ed25519 key, up to its 32 bytes (RFC 8410). */
const spki = Buffer.from('302a300506032b6570032100', 'hex');
const hex = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export class Verifier {
  readonly #key: KeyObject;

  /** @param publicKey base64url, 32 bytes */
  constructor(publicKey: string) {
    const key = Buffer.concat([spki, Buffer.from(publicKey, 'base64url')]);
    this.#key = createPublicKey({ key, format: 'der', type: 'spki' });
  }
  #check(text: string, signature: string): boolean {
    return verify(null, Buffer.from(text), this.#key, Buffer.from(signature, 'base64url'));
  }
  document(facts: DocumentFacts, body: Uint8Array, signature: string): boolean {
    return this.#check(documentText(facts, hex(body)), signature);
  }
  chunk(nodeID: number, request: string, payload: Uint8Array, signature: string): boolean {
    return this.#check(chunkText(nodeID, request, hex(payload)), signature);
  }
  command(command: Command, signature: string): boolean {
    return this.#check(commandText(command, hex(command.body)), signature);
  }
  bundle(manifest: string, signature: string): boolean {
    return this.#check(bundleText(hex(manifest)), signature);
  }
}
