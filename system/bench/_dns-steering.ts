/** Whoever steers names, as a process of its own for benchmarks: its CPU and memory are its own then. Facts come as JSON. */
import { GeoData } from '#server/resolution/geo/data.ts';
import { Steering } from '#server/resolution/steer.ts';

const facts = JSON.parse(process.argv[2]!) as {
  databaseUrl: string;
  geo: string;
  knot: { port: number; key: string; lines: string; socket: string };
};
const geo = new GeoData(facts.geo);
await geo.ready();
const { key, ...knot } = facts.knot;
const steering = new Steering(
  facts.databaseUrl,
  {
    geo,
    knot: {
      ...knot,
      addresses: ['127.0.0.1'],
      key: { name: 'breakwater', algorithm: 'hmacSHA256', secret: Buffer.from(key, 'base64') },
    },
  },
  // how long a node has to be well is a wish, no cost
  { steadySeconds: 0 },
);
process.on('message', said => {
  if (said === 'start') steering.start();
});
process.send?.('ready');
