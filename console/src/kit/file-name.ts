/** What the server calls a file (RFC 6266); the name in all letters before the plain one. */
export function fileName(disposition: string | null): string {
  const whole = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  try {
    if (whole) return decodeURIComponent(whole);
  } catch {
    // not encoded as it says: the plain name stands
  }
  return /filename="([^"]+)"/i.exec(disposition ?? '')?.[1] ?? 'download.txt';
}
