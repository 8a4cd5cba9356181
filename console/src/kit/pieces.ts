/**
 * Pieces that a page may have in its place, each loaded when it is drawn: importing one from here costs a page a few bytes. A piece that
 * opens over the page is a `later` of its own (kit/later.tsx).
 */
import { inPlace } from './later.tsx';
import { placed } from './placed.tsx';

export const UnitsInput = /* @__PURE__ */ placed(
  32,
  /* @__PURE__ */ inPlace(async () => (await import('./units-input.tsx')).UnitsInput),
);
export const Wizard = /* @__PURE__ */ placed(
  190,
  /* @__PURE__ */ inPlace(async () => (await import('./wizard.tsx')).Wizard),
);
export const Transfer = /* @__PURE__ */ placed(
  360,
  /* @__PURE__ */ inPlace(async () => (await import('./transfer.tsx')).Transfer),
);
export const RegionTree = /* @__PURE__ */ placed(
  364,
  /* @__PURE__ */ inPlace(async () => (await import('./region-tree.tsx')).RegionTree),
);
export const Schedule = /* @__PURE__ */ placed(
  300,
  /* @__PURE__ */ inPlace(async () => (await import('./schedule.tsx')).Schedule),
);
export const SecretOnce = /* @__PURE__ */ placed(
  210,
  /* @__PURE__ */ inPlace(async () => (await import('./secret-once.tsx')).SecretOnce),
);
export const PemInput = /* @__PURE__ */ placed(
  160,
  /* @__PURE__ */ inPlace(async () => (await import('./pem-input.tsx')).PemInput),
);
export const ColorInput = /* @__PURE__ */ placed(
  76,
  /* @__PURE__ */ inPlace(async () => (await import('./color-input.tsx')).ColorInput),
);
export const InlineSwitch = /* @__PURE__ */ placed(
  22,
  /* @__PURE__ */ inPlace(async () => (await import('./inline-switch.tsx')).InlineSwitch),
);
export const SortList = /* @__PURE__ */ placed(
  132,
  /* @__PURE__ */ inPlace(async () => (await import('./sort-list.tsx')).SortList),
);
export const ConditionBuilder = /* @__PURE__ */ placed(
  110,
  /* @__PURE__ */ inPlace(async () => (await import('./condition-builder.tsx')).ConditionBuilder),
);
export const ManyLegend = /* @__PURE__ */ placed(
  124,
  /* @__PURE__ */ inPlace(async () => (await import('./many-legend.tsx')).ManyLegend),
);
export const LiveChart = /* @__PURE__ */ placed(
  290,
  /* @__PURE__ */ inPlace(async () => (await import('./live-chart.tsx')).LiveChart),
);
export const CodeEditor = /* @__PURE__ */ placed(
  134,
  /* @__PURE__ */ inPlace(async () => (await import('./code-editor.tsx')).CodeEditor),
);
export const WorldMap = /* @__PURE__ */ placed(
  360,
  /* @__PURE__ */ inPlace(async () => (await import('./world-map.tsx')).WorldMap),
);
export const PinMap = /* @__PURE__ */ placed(
  360,
  /* @__PURE__ */ inPlace(async () => (await import('./pin-map.tsx')).PinMap),
);
export const PlaceShown = /* @__PURE__ */ placed(
  22,
  /* @__PURE__ */ inPlace(async () => (await import('./place.tsx')).PlaceShown),
);
export const PlacesInput = /* @__PURE__ */ placed(
  32,
  /* @__PURE__ */ inPlace(async () => (await import('./place.tsx')).PlacesInput),
);
