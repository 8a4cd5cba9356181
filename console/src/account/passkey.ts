/** What the browser does for passkeys (WebAuthn Level 3), in the shapes of our calls. It comes when it is wanted. */
import { call } from '../kit/client.ts';
import type { Credentials } from '../kit/credentials.ts';
import { bytesOf, isNone, named, signedBy, stringOf } from '../kit/passkey-bytes.ts';

/**
 * Signs in by a passkey of this host; undefined: none was chosen.
 * @param signal ends the question
 * @param isOffered among what the browser fills into the form: nothing opens by itself, it is asked anew before its challenge is too old,
 *   and it throws for one alone that was chosen and refused
 */
export async function byPasskey(signal: AbortSignal, isOffered = false): Promise<Credentials | undefined> {
  for (;;) {
    const asked = call('POST /{area}/passkey/challenge', {}, { from: 'login' });
    // what nobody asked for says nothing when it cannot be had
    const options = await (isOffered ? asked.catch(console.error) : asked);
    if (!options) return undefined;
    const late = isOffered ? [AbortSignal.timeout(options.timeout * 0.8)] : [];
    let found: PublicKeyCredential | null;
    try {
      found = (await navigator.credentials.get({
        publicKey: { ...options, challenge: bytesOf(options.challenge) },
        signal: AbortSignal.any([signal, ...late]),
        ...(isOffered ? { mediation: 'conditional' } : {}),
      })) as PublicKeyCredential | null; // what was asked for
    } catch (error) {
      if (late.some(one => one.aborted) && !signal.aborted) continue;
      if (isNone(error) || signal.aborted) return undefined;
      if (!isOffered) throw error;
      console.error(error);
      return undefined;
    }
    if (!found) return undefined;
    return call('POST /{area}/passkey/verify', { body: { credential: signedBy(found) } }, { from: 'login' });
  }
}

/** Makes one; false: nothing was made. `held`: the authenticator has one of this account already. */
export async function addPasskey(name: string, password: string, code?: string): Promise<boolean | 'held'> {
  const options = await call(
    'POST /{area}/account/passkey/options',
    { body: { password, ...(code ? { code } : {}) } },
    { from: 'step' },
  );
  let made: PublicKeyCredential | null;
  try {
    made = (await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        user: { ...options.user, id: bytesOf(options.user.id) },
        excludeCredentials: options.excludeCredentials.map(
          one => ({ ...one, id: bytesOf(one.id) }) as PublicKeyCredentialDescriptor,
        ), // knows fewer words for transports
      },
    })) as PublicKeyCredential | null; // what was asked for
  } catch (error) {
    if (error instanceof DOMException && error.name === 'InvalidStateError') return 'held';
    if (isNone(error)) return false;
    throw error;
  }
  if (!made) return false;
  const response = made.response as AuthenticatorAttestationResponse; // of what was asked for
  const credential = {
    ...named(made),
    response: {
      clientDataJSON: stringOf(response.clientDataJSON),
      attestationObject: stringOf(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
  await call('POST /{area}/account/passkey', { body: { name, credential } }, { from: 'step' });
  return true;
}
