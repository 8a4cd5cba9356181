/** One question to the control plane over HTTP: with the authority this node was given to check it by, or those every machine knows. */
import http from 'node:http';
import https from 'node:https';

export interface ServerAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** what was answered, if it is an object of JSON */
  said: Record<string, unknown>;
}

const answerBytesMost = 1_000_000;
const isLoopback = (host: string) => /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(host);

/**
 * @param ca PEM
 * @throws one sentence, when nothing can be said about what the server thinks of it
 */
export async function askServer(url: URL, body: unknown, limitMs: number, ca?: string): Promise<ServerAnswer> {
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new Error(
      `${url.origin} would be told secrets plainly: the address of a server on another machine begins with https://`,
    );
  try {
    const { status, headers, text } = await post(url, JSON.stringify(body), limitMs, ca);
    return { status, headers, said: objectOf(text) };
  } catch (error) {
    throw new Error(`the server ${url.origin} cannot be reached: ${whyNot(error as NodeJS.ErrnoException)}`, { cause: error });
  }
}

function post(url: URL, body: string, limitMs: number, ca: string | undefined) {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>((done, fail) => {
    const options = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      agent: false,
      signal: AbortSignal.timeout(limitMs),
    };
    const request = url.protocol === 'https:' ? https.request(url, { ...options, ca }) : http.request(url, options);
    request.on('error', fail).on('response', response => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.length > answerBytesMost) request.destroy(new Error('its answer is far too long'));
      });
      response.on('end', () => done({ status: response.statusCode!, headers: response.headers, text })).on('error', fail);
    });
    request.end(body);
  });
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** As `fetch` says it, and for certificates what to think of it. */
function whyNot({ code = '', message, name }: NodeJS.ErrnoException): string {
  if (name === 'AbortError' || name === 'TimeoutError') return 'it does not answer in time';
  if (/^UNABLE_TO_|SELF_SIGNED_CERT|^DEPTH_ZERO/.test(code))
    return 'its certificate is not signed by the authority this node was told of';
  return message || code;
}
