/** Passkeys are bound to a name: at an address there are none (WebAuthn 5.1.2), nor where the page is not secure. */
export const mayHavePasskeys = 'PublicKeyCredential' in globalThis && !/^[\d.]+$|^\[/.test(location.hostname);
