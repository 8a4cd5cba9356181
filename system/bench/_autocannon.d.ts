/** The part of autocannon 9 that the benchmarks use; it brings no types. */
declare module 'autocannon' {
  interface Options {
    url: string;
    connections: number;
    /** seconds */
    duration: number;
    headers?: Record<string, string>;
  }
  interface Result {
    '2xx': number;
    non2xx: number;
    errors: number;
    /** seconds */
    duration: number;
    /** milliseconds */
    latency: { p50: number; p99: number };
  }
  export default function autocannon(options: Options): Promise<Result>;
}
