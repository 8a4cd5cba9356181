/** The vendor's licences: templates, what operators hold of them, and files for installations that ask nobody. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Fail, fail } from '#contract/errors.ts';
import { licenseOrders, licenses, offlineLicense, offlineLicenses, ownLicense } from '#contract/licence/licences.ts';
import { offlineLicense as rule } from '#contract/limits.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { type LicenceFile, limitsOf } from '../kit/licence.ts';
import { eachOf, removeAll, removeEach } from '../kit/removal.ts';
import { isSame } from '../kit/store.ts';
import { row } from '../store/db.ts';
import { holdOrder, holdSerial, orderOf, putOrder, raiseSerial, takeBack } from './orders.ts';
import { licenseTable, offlineTable, type OfflineRow, operatorTable } from './tables.ts';

const dayMs = 86_400_000;
const endOf = (from: number, days: number) => (days === 0 ? null : new Date(from + days * dayMs).toISOString());
const nameOf = ({ name }: { name: string }) => name;

/** The template that is issued. */
async function template(ctx: Context, id: number) {
  const found = await ctx.store(licenseTable).find(id);
  if (!found) throw new Fail('licenseNotFound', { errorData: [{ path: 'licenseID', rule: 'unknown' }] });
  return found;
}

type Signed = Pick<OfflineRow, 'serial' | 'revision' | 'name' | 'issuedAt' | 'expiredAt' | 'installationID'> &
  Parameters<typeof limitsOf>[0];
const fileOf = (from: Signed): LicenceFile => ({
  product: 'breakwater',
  serial: from.serial,
  revision: from.revision,
  name: from.name,
  issuedAt: from.issuedAt,
  expiredAt: from.expiredAt,
  installationID: from.installationID,
  ...limitsOf(from),
});

export const licenceCalls = implement(
  licenses,
  {
    'GET /license': ({ ctx, query }) => ctx.store(licenseTable).page(query),
    'POST /license': async ({ ctx, body }) => ({
      ids: await ctx.store(licenseTable).add([body], { vendorID: ctx.actor.rootID }),
    }),
    'PUT /license': async ({ ctx, body }) => {
      await ctx.store(licenseTable).set(body.id, body);
      return {};
    },
    'DELETE /license': ({ ctx, body }) => removeAll(ctx.store(licenseTable), body.ids),
  },
  { rows: { 'GET /license': licenseTable } },
);

export const licenceOrderCalls = implement(
  licenseOrders,
  {
    'POST /license/issuing': async ({ ctx, body }) => {
      const { id, name, days, ...from } = await template(ctx, body.licenseID);
      await ctx.store(operatorTable).need([body.userID], 'userID');
      await holdOrder(ctx, body.userID);
      const now = Date.now();
      await putOrder(ctx, body.userID, {
        kind: 'order',
        name,
        licenseID: id,
        limits: limitsOf(from),
        startTime: new Date(now).toISOString(),
        expiredAt: endOf(now, days),
        file: null,
        serial: null,
        revision: 0,
        installationID: null,
      });
      return {};
    },
    'GET /license/orders': async ({ ctx, query }) => {
      const { data, total } = await ctx.store(operatorTable).page(query);
      const held = await Promise.all(data.map(one => ctx.services.licences.of(ctx.db, one.id)));
      return {
        data: data.map((one, i) => {
          const { kind, state, name: license, expiredAt } = held[i]!;
          return { ...one, kind, state, license, expiredAt };
        }),
        total,
      };
    },
    'GET /license/{userId}/order': ({ ctx, params }) => orderOf(ctx, params.userId),
    'PUT /license/{userId}/order': async ({ ctx, params, body }) => {
      await holdOrder(ctx, params.userId);
      const held = await ctx.services.licences.of(ctx.db, params.userId);
      // what a file says stands in the file: another licence is issued in its place
      if (held.kind === 'offline') throw fail('licenseNotFound');
      const { expiredAt = held.expiredAt, ...limits } = body;
      const before = { ...held.limits, expiredAt: held.expiredAt, id: params.userId, version: held.version };
      await ctx.expect('licenseOrder', before, body);
      if (isSame({ ...held.limits, expiredAt: held.expiredAt }, { ...limits, expiredAt })) return {};
      const known = await row<{ licenseID: number | null }>(
        ctx.db,
        sql`select "licenseID" from "licenseOrder" where "clientID" = ${params.userId}`,
      );
      await putOrder(ctx, params.userId, {
        kind: 'order',
        name: held.name,
        licenseID: known?.licenseID ?? null,
        limits,
        startTime: held.startTime ?? new Date().toISOString(),
        expiredAt,
        file: null,
        serial: null,
        revision: 0,
        installationID: null,
      });
      return {};
    },
  },
  { params: { userId: operatorTable }, rows: { 'GET /license/orders': operatorTable } },
);

export const offlineFileCalls = implement(
  offlineLicenses,
  {
    'GET /license/offlines': ({ ctx, query }) => ctx.store(offlineTable).page(query),
    'POST /license/offline/issuing': async ({ ctx, body }) => {
      const { days, ...from } = await template(ctx, body.licenseID);
      const now = Date.now();
      const installationID = body.installationID ?? null;
      const values = {
        name: body.name,
        serial: randomUUID(),
        revision: 1,
        days,
        issuedAt: new Date(now).toISOString(),
        expiredAt: endOf(now, days),
        installationID,
        registeredAt: installationID === null ? null : new Date(now).toISOString(),
        ...limitsOf(from),
      };
      const file = await ctx.services.licences.sign(fileOf(values));
      return { ids: await ctx.store(offlineTable).add([{ ...values, file }], { vendorID: ctx.actor.rootID }), file };
    },
    'PUT /license/offline': async ({ ctx, body }) => {
      const store = ctx.store(offlineTable);
      const before = await store.get(body.id);
      if (body.portType !== undefined && body.portType !== before.portType && !rule.portTypeChangesAfterUpgrade)
        throw new Fail('illegalPortType', { errorData: [{ path: 'portType', rule: 'invalidChoice' }] });
      const after = { ...before, ...body };
      const expiredAt = body.days === undefined ? before.expiredAt : endOf(Date.parse(before.issuedAt), body.days);
      const isOther = body.installationID !== undefined && body.installationID !== before.installationID;
      const registeredAt = !isOther ? before.registeredAt : body.installationID === null ? null : new Date().toISOString();
      const revision = before.revision + 1;
      const file = await ctx.services.licences.sign(fileOf({ ...after, expiredAt, revision }));
      const known: Record<string, unknown> = before;
      const isUnchanged = Object.entries(body).every(([name, value]) => value === undefined || known[name] === value);
      if (!isUnchanged) {
        await holdSerial(ctx, before.serial);
        await raiseSerial(ctx, before.serial, revision, before.portType);
      }
      await store.set(body.id, isUnchanged ? body : { ...body, expiredAt, registeredAt, revision, file });
      return {};
    },
    'DELETE /license/offline': ({ ctx, body }) =>
      removeEach(ctx, ctx.store(offlineTable), body.ids, nameOf, one => takeBack(ctx, one)),
    'DELETE /license/offline/register': ({ ctx, body }) =>
      eachOf(ctx, ctx.store(offlineTable), body.ids, nameOf, async one => {
        if (one.registeredAt === null && one.installationID === null) throw fail('licenseNotFound');
        const revision = one.revision + 1;
        const file = await ctx.services.licences.sign(fileOf({ ...one, installationID: null, revision }));
        await takeBack(ctx, one);
        await ctx.store(offlineTable).set(one.id, { installationID: null, registeredAt: null, revision, file });
      }),
  },
  { rows: { 'GET /license/offlines': offlineTable } },
);

export const offlineLicenceCalls = implement(offlineLicense, {
  'PUT /license': async ({ ctx, body }) => {
    const { actor, services } = ctx;
    if (!actor.isRoot) throw fail('permissionDenied');
    const text = body.license.trim();
    const file = await services.licences.verify(text);
    if (!file || !services.licences.fits(file)) throw fail('illegalLicense');
    if (file.expiredAt !== null && Date.parse(file.expiredAt) <= Date.now()) throw fail('licenseExpired');
    await holdOrder(ctx, actor.rootID);
    await ctx.expect(
      'licenseOrder',
      { id: actor.rootID, version: (await services.licences.of(ctx.db, actor.rootID)).version },
      {},
    );
    // where the vendor is of this very installation its row comes first, as where the vendor changes the file or takes it back
    await sql`select 1 from "offlineLicense" where serial = ${file.serial} and "deletedAt" is null for no key update`.execute(
      ctx.db,
    );
    const known = await holdSerial(ctx, file.serial);
    const holder = await row<{ clientID: number; file: string }>(
      ctx.db,
      sql`select "clientID", file from "licenseOrder" where serial = ${file.serial} and not "isGone"`,
    );
    // one licence is one operator's
    if (holder && holder.clientID !== actor.rootID) throw fail('illegalLicense');
    if (holder?.file === text) return {};
    // what was changed, or taken back, does not come again by an older file: whatever was held meanwhile, and by whom
    if (file.revision < known.leastRevision) throw fail('illegalLicense');
    if ((known.portType ?? file.portType) !== file.portType && !rule.portTypeChangesAfterUpgrade) throw fail('illegalPortType');
    await raiseSerial(ctx, file.serial, file.revision, file.portType);
    await putOrder(ctx, actor.rootID, {
      kind: 'offline',
      name: file.name,
      licenseID: null,
      limits: limitsOf(file),
      startTime: file.issuedAt,
      expiredAt: file.expiredAt,
      file: text,
      serial: file.serial,
      revision: file.revision,
      installationID: services.licences.installationID,
    });
    // where the vendor is of this very installation, it sees that the file was registered
    await sql`update "offlineLicense" set "installationID" = ${services.licences.installationID}, "registeredAt" = coalesce("registeredAt", now()),
      "rowVersion" = "rowVersion" + 1, "updatedAt" = now() where serial = ${file.serial} and "registeredAt" is null and "deletedAt" is null`.execute(
      ctx.db,
    );
    return {};
  },
});

export const ownLicenceCalls = implement(ownLicense, {
  'GET /license': async ({ ctx }) => {
    const { installationID, publicKey } = ctx.services.licences;
    return { ...(await orderOf(ctx, ctx.actor.rootID)), installationID, verifyKey: publicKey };
  },
});
