/** One side of the api benchmark, in a process of its own: `node _api-server.ts ours|plain|constant`, told by environment. */
import Fastify from 'fastify';
import { groups } from '#contract/index.ts';
import { permissionKeys } from '#contract/kit/call.ts';
import type { Site } from '#contract/site/sites.ts';
import { createApi } from '#server/calls.ts';
import { Keys } from '#server/kit/crypto.ts';
import { Licences } from '#server/kit/licence.ts';
import { Notices } from '#server/kit/notices.ts';
import { Sealing } from '#server/kit/sealed.ts';
import { Sessions } from '#server/kit/session.ts';
import { openDatabase } from '#server/store/db.ts';
import type * as z from 'zod/mini';

const env = (name: string) => process.env[name]!;
const database = openDatabase(env('DATABASE_URL'));

if (process.argv[2] === 'ours') {
  const keys = new Keys(Buffer.from(env('BENCH_KEY'), 'hex'));
  const licences = new Licences(keys);
  const sessions = new Sessions(database, keys, area => permissionKeys(groups, area), undefined, licences);
  const services = {
    database,
    sessions,
    notices: new Notices(database.url),
    sealing: new Sealing([keys]),
    licences,
    publicURL: '',
  };
  await listen(createApi({ services, log: (_level, message, data) => console.error(message, data) }));
} else {
  const app = Fastify();
  const { text, values } = JSON.parse(env('BENCH_SQL')) as { text: string; values: unknown[] };
  type Row = z.output<typeof Site> & { '#': number };
  const answer = async () => {
    const { rows } = await database.pool.query<Row>(text, values);
    return {
      // the declared type: a field that a site gets later is an error here until both sides answer it
      data: rows.map((row): Required<z.output<typeof Site>> => ({
        id: row.id,
        version: row.version,
        createdAt: row.createdAt,
        updatedAt: row.updatedAt,
        deletedAt: row.deletedAt,
        siteName: row.siteName,
        tags: row.tags,
        status: row.status,
        productID: row.productID,
        productName: row.productName,
        portType: row.portType,
        zoneID: row.zoneID,
        zoneName: row.zoneName,
        userID: row.userID,
        userEmail: row.userEmail,
        users: row.users,
        expired: row.expired,
        isExpired: row.isExpired,
        domainCount: row.domainCount,
        domainLimit: row.domainLimit,
        autoSSLLimit: row.autoSSLLimit,
        portLimit: row.portLimit,
        forceBackup: row.forceBackup,
        revision: row.revision,
      })),
      total: rows[0]?.['#'] ?? 0,
    };
  };
  const path = '/api/v1/user/sites';
  const constant = JSON.stringify(await answer());
  if (process.argv[2] === 'plain')
    app.get(path, async (_request, reply) => reply.type('application/json; charset=utf-8').send(JSON.stringify(await answer())));
  else app.get(path, (_request, reply) => reply.type('application/json; charset=utf-8').send(constant));
  await listen(app);
}

async function listen(app: { listen(options: { host: string; port: number }): Promise<string> }) {
  console.log(`url ${await app.listen({ host: '127.0.0.1', port: Number(env('PORT')) })}`);
}
// an orderly end writes the profile (BENCH_PROFILE)
process.once('SIGTERM', () => process.exit(0));
