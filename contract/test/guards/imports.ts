/**
 * Who may import whom. Between parts: contract ← server | console | agent; host ← server | agent; bin ← nobody, so that a test of the
 * whole needs no command. Inside a part: kit ← domain ← whole, and a domain knows another only where a line here says why.
 */
import { importsOf, type Source } from './sources.ts';

type Part = 'contract' | 'server' | 'console' | 'agent';
const parts: readonly string[] = ['contract', 'server', 'console', 'agent'] satisfies Part[];

/** Folders that hold a domain of the product; each part has those it needs. */
const domains = [
  'account',
  'analytics',
  'cache',
  'domain',
  'licence',
  'module',
  'node',
  'protect',
  'resolution',
  'site',
  'system',
  'traffic',
] as const;
const isDomain = (folder: string) => (domains as readonly string[]).includes(folder);

/** What any domain of a part may import beside itself; `.` is what lies in no folder. */
const belowDomains: Record<Part, readonly string[]> = {
  contract: ['.', 'kit', 'rules', 'errors', 'edge'],
  server: ['kit', 'store'],
  console: ['kit', 'shell'],
  agent: [],
};

/** The other folders, each with all that it may import; `*`: a table of the whole. A folder that stands nowhere may import nothing. */
const others: Record<Part, Readonly<Record<string, readonly string[]>>> = {
  contract: { '.': ['*'], kit: ['.'], rules: ['.', 'kit'], errors: ['.', 'kit'], edge: ['.', 'kit', 'rules'] },
  server: {
    '.': ['*'],
    services: ['*'],
    kit: ['store'],
    store: [],
    compile: [],
    bus: ['compile', 'kit', 'store'],
    ingest: ['bus', 'store'],
    work: ['kit', 'store'],
  },
  console: { '.': ['*'], areas: ['*'], text: ['*'], shell: ['kit', 'styles'], kit: ['text'], styles: [] },
  agent: { '.': ['*'], render: [], ship: [] },
};

/**
 * What is imported against this, folder by folder, each with its reason. It only shrinks (`exceptionsMost` in imports.test.ts): a new
 * domain says what it needs of another in the kit, in `tables.ts` of the row it hangs on, or in a table of the whole.
 */
export const exceptions: Readonly<Record<string, string>> = {
  'contract edge → module': 'the document of a module holds the settings its call takes',
  'contract edge → site': 'the document of a site holds the settings its call takes',
  'server account → node': 'an account is assigned to zones',
  'server account → site': 'an account is assigned to sites',
  'server analytics → domain': 'figures are asked for by domain',
  'server analytics → ingest': 'lines set aside are counted by their reasons',
  'server analytics → site': 'figures are asked for by site',
  'server cache → site': 'what is cached is a site’s',
  'server domain → site': 'domains hang on sites',
  'server domain → system': 'origins lie where the operator allows it',
  'server ingest → analytics': 'the nightly run packs what analytics reads',
  'server module → domain': 'a module is assigned to domains',
  'server module → site': 'modules hang on sites',
  'server node → analytics': 'a node shows what of its log was set aside',
  'server protect → site': 'protections hang on sites',
  'server protect → system': 'the operator’s own rules and pages go to every zone',
  'server resolution → domain': 'names are changed by the messages of site DNS, and domains are looked after',
  'server resolution → node': 'groups and lines are the fleet’s',
  'server resolution → .': 'the log',
  'server resolution → system': 'what may be shown of addresses is a setting of the installation',
  'server site → account': 'sites are shown to accounts',
  'server site → analytics': 'the information page shows figures',
  'server site → bus': 'a site says where it is applied',
  'server site → domain': 'the information page counts domains',
  'server site → node': 'a site lies in a zone by its product',
  'server system → .': 'types of the settings of the program',
  'server system → analytics': 'health looks at what was set aside',
  'server system → bus': 'health looks at the bus',
  'server system → compile': 'health says which documents could not be made',
  'server system → ingest': 'health looks at ingest',
  'server system → node': 'the status counts nodes',
  'server system → site': 'the status counts sites',
  'server traffic → account': 'traffic is a customer’s',
  'server traffic → node': 'traffic is used of a product',
  'server work → .': 'the log and types of the settings of the program',
  'server work → system': 'how long what is kept is a setting of the installation',
  'console account → node': 'styles of lists',
  'console domain → module': 'the form of a domain holds its headers',
  'console system → licence': 'sections of the system’s settings: a table of the whole',
  'console site → cache': 'tabs of a site: a table of the whole; rates and cache rules say in one way which URLs they hold for',
  'console site → domain': 'tabs of a site: a table of the whole',
  'console site → module': 'tabs of a site: a table of the whole',
  'console site → protect': 'tabs of a site: a table of the whole',
};

/** Packages that a kit stands before, each with the files that may import it: everybody else asks the kit. */
const behindKits: Readonly<Record<string, readonly string[]>> = {
  'prom-client': ['server/src/kit/metrics.ts', 'server/src/kit/health.ts'],
};

/** The file of the project that an import names; undefined for packages. */
export function targetOf(file: string, from: string): string | undefined {
  if (from.startsWith('#')) {
    const [part = '', ...rest] = from.slice(1).split('/');
    return ['contract', 'server', 'agent'].includes(part) ? `${part}/src/${rest.join('/')}` : `${part}/${rest.join('/')}`;
  }
  return from.startsWith('.') ? new URL(from, `file:///${file}`).pathname.slice(1) : undefined;
}
const folderOf = (path: string) => path.split('/').slice(2, -1)[0] ?? '.';

/** The folders a file reaches into against the order, as `server site → node`, each once. */
export function crossings(files: readonly Source[]): { file: string; target: string; pair: string }[] {
  return files.flatMap(({ file, text }) =>
    importsOf(text).flatMap(({ from }) => {
      const target = targetOf(file, from);
      const part = file.split('/')[0] as Part;
      if (target === undefined || !target.startsWith(`${part}/src/`) || !parts.includes(part)) return [];
      const [mine, its] = [folderOf(file), folderOf(target)];
      if (mine === its) return [];
      const may = isDomain(mine) ? belowDomains[part] : (others[part][mine] ?? []);
      return may.includes('*') || may.includes(its) ? [] : [{ file, target, pair: `${part} ${mine} → ${its}` }];
    }),
  );
}

export function importProblems(files: readonly Source[], allowed: Readonly<Record<string, string>> = exceptions): string[] {
  const between = files.flatMap(({ file, text }) => {
    const part = file.split('/')[0]!;
    return importsOf(text).flatMap(({ from }) => {
      const target = targetOf(file, from);
      if (target === undefined) {
        const isForeign = part === 'contract' && from !== 'zod/mini';
        if (isForeign) return [`${file} imports ${from}: the contract imports zod/mini and itself`];
        const kit = Object.hasOwn(behindKits, from) ? behindKits[from]! : undefined;
        return kit && !kit.includes(file) ? [`${file} imports ${from}: ${kit[0]} stands before it`] : [];
      }
      const other = target.split('/')[0]!;
      if (other === 'host' && (part === 'server' || part === 'agent')) return []; // files and secrets of the machine below them
      // the whole and the commands stand above the parts; a test of a command imports it, nobody else below does
      if (part === 'system')
        return other === 'bin' && !file.endsWith('.test.ts') ? [`${file} imports ${target}: bin stands above system`] : [];
      if (part === 'bin') return [];
      return other !== part && other !== 'contract'
        ? [`${file} imports ${target}: ${part} may import the contract and itself`]
        : [];
    });
  });
  const inside = crossings(files)
    .filter(({ pair }) => !Object.hasOwn(allowed, pair))
    .map(({ file, target, pair }) => `${file} imports ${target}: ${pair} is against the order (contract/test/guards/imports.ts)`);
  return [...between, ...inside];
}

/** Exceptions that nothing needs any more. */
export function unusedExceptions(files: readonly Source[], allowed: Readonly<Record<string, string>> = exceptions): string[] {
  const needed = new Set(crossings(files).map(({ pair }) => pair));
  return Object.keys(allowed)
    .filter(pair => !needed.has(pair))
    .map(pair => `${pair}: nothing imports so any more, take it off contract/test/guards/imports.ts`);
}

/** Files that lead back to themselves, through types alone too; each circle is told once, by its files. */
export function circles(files: readonly Source[]): string[] {
  const known = new Set(files.map(({ file }) => file));
  const next = new Map(
    files.map(({ file, text }) => [
      file,
      [...new Set(importsOf(text).map(({ from }) => targetOf(file, from)))].filter(
        (target): target is string => target !== undefined && known.has(target),
      ),
    ]),
  );
  // Tarjan: files from which each other is reached
  const [order, low] = [new Map<string, number>(), new Map<string, number>()];
  const open: string[] = [];
  const found: string[] = [];
  const visit = (file: string) => {
    order.set(file, order.size);
    low.set(file, order.get(file)!);
    open.push(file);
    for (const target of next.get(file)!) {
      if (!order.has(target)) visit(target);
      if (open.includes(target)) low.set(file, Math.min(low.get(file)!, low.get(target)!));
    }
    if (low.get(file) !== order.get(file)) return;
    const circle = open.splice(open.indexOf(file));
    if (circle.length > 1 || next.get(file)!.includes(file)) found.push(circle.sort().join(' ↔ '));
  };
  for (const { file } of files) if (!order.has(file)) visit(file);
  return found;
}

/** The files that a program has in it: `from`, and what is imported from there on. */
export function reached(files: readonly Source[], from: string): Source[] {
  const known = new Map(files.map(source => [source.file, source]));
  const found = new Set<string>();
  const open = [from];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const source = known.get(file);
    if (!source || found.has(file)) continue;
    found.add(file);
    for (const { from: name } of importsOf(source.text)) open.push(targetOf(file, name) ?? '');
  }
  return files.filter(({ file }) => found.has(file));
}
