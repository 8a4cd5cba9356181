/**
 * Makes of all data one MMDB of ours and ends: a process of its own (data.ts), for an uploaded file is anybody's work and takes as long as it
 * likes, until the process is killed. What is read of it are codes, numbers and names, checked; nothing else of it is in what is written.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { writeWhole } from '#host/files.ts';
import { formatIP } from '#contract/rules/address.ts';
import { emptyLayers, laidOver, type Layer, layersOf, type Where, type Whose, whoseOfLines } from './layers.ts';
import { BadMmdb, Mmdb } from './mmdb.ts';
import { mmdbOf } from './mmdb-writer.ts';
import type { GeoIndex, GeoSource } from '../../kit/services.ts';
import { packaged } from './sources.ts';
import { type BuildOrder, type Built, unknownCode } from './build-order.ts';

/** One at a time: each is a whole file. */
function* texts(files: readonly string[]): Generator<string> {
  for (const file of files) yield readFileSync(file, 'utf8');
}

/** What is kept of all that is read: its layers go with this, and they are as large as what is made of them. */
function laid({ own, hasPackages }: BuildOrder) {
  const sources: GeoSource[] = [];
  let where: Layer<Where> | undefined;
  let whose: Layer<Whose> | undefined;
  const ownLayers = own.map(path => {
    const mmdb = new Mmdb(readFileSync(path));
    const found = layersOf(mmdb);
    const layers = (['where', 'whose'] as const).filter(layer => found[layer]);
    if (!layers.length) throw new BadMmdb('it says nothing of countries or ASNs');
    for (const layer of layers) {
      if (layer === 'where' ? where : whose) continue;
      sources.push({ layer, name: mmdb.type, version: '', dataAt: mmdb.builtAt, licence: '', credits: [], isOwn: true });
    }
    where ??= found.where;
    whose ??= found.whose;
    return layers;
  });
  for (const { source, files } of hasPackages ? packaged() : []) {
    if (source.layer === 'where' && !where) {
      const mmdb = new Mmdb(readFileSync(files[0]!));
      where = layersOf(mmdb).where;
      sources.push({ ...source, dataAt: mmdb.builtAt || source.dataAt });
    }
    if (source.layer === 'whose' && !whose) {
      whose = whoseOfLines(texts(files));
      sources.push(source);
    }
  }
  const [places, owners] = [where ?? emptyLayers.where, whose ?? emptyLayers.whose];
  return { ...laidOver(places, owners), places: places.values, owners: owners.values, sources, own: ownLayers };
}

function build(order: BuildOrder): Built {
  const { out } = order;
  const { v4, v6, pairs, networks, places, owners, sources, own } = laid(order);
  const values = pairs.values().map(pair => {
    const { continent, country, region, regionName } = places[pair.where]!;
    const { asn, organisation } = owners[pair.whose]!;
    return {
      continent: { code: continent || unknownCode },
      country: { iso_code: country || unknownCode },
      subdivisions: [{ iso_code: region || unknownCode, ...(regionName && { names: { en: regionName } }) }],
      autonomous_system_number: asn,
      ...(organisation && { autonomous_system_organization: organisation }),
    };
  });
  writeWhole(`${out}.mmdb`, mmdbOf({ v4, v6, values, type: 'Breakwater-Places', builtAt: Date.now() }));
  const index: GeoIndex = {
    where: places.map(one => [one.continent, one.country, one.region, one.regionName]),
    whose: owners.map(one => [one.asn, one.organisation]),
    pairs: pairs.map(pair => [pair.where, pair.whose, formatIP({ family: pair.family, value: pair.first })]),
  };
  writeWhole(`${out}.json`, JSON.stringify(index));
  return { sources, own, networks };
}

// where memory is short this goes, and neither the database nor the server: it is made again
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // it is a help alone
}
// data.ts writes it
const order = JSON.parse(process.argv[2]!) as BuildOrder;
try {
  process.stdout.write(JSON.stringify(build(order)));
} catch (error) {
  if (!(error instanceof BadMmdb)) throw error;
  process.stdout.write(JSON.stringify({ bad: error.message }));
}
