/** Bytes as WebAuthn writes them: base64url without padding (RFC 4648 5). */
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0));
export const stringOf = (bytes: ArrayBuffer): string =>
  btoa(Array.from(new Uint8Array(bytes), byte => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

/** Nobody chose one, or it was put off; who knows which is not told (WebAuthn 5.1.4). */
export const isNone = (error: unknown) => error instanceof DOMException && ['NotAllowedError', 'AbortError'].includes(error.name);

export const named = ({ id, rawId }: PublicKeyCredential) => ({ id, rawId: stringOf(rawId), type: 'public-key' as const });
/** What one signed that was asked for, as our calls take it. */
export function signedBy(found: PublicKeyCredential) {
  const response = found.response as AuthenticatorAssertionResponse; // of what was asked for
  return {
    ...named(found),
    response: {
      clientDataJSON: stringOf(response.clientDataJSON),
      authenticatorData: stringOf(response.authenticatorData),
      signature: stringOf(response.signature),
      userHandle: response.userHandle && stringOf(response.userHandle),
    },
  };
}
