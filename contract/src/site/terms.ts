/** On what terms a site is sold: its product, limits of its own, its operator's tags (§3 Site; calls.md, §8). */
import { calls } from '../kit/call.ts';
import { arr, bool, id, ids, int, limit, nullable, obj, opt, str, tags } from '../kit/schema.ts';

/** What a site has of its own instead of what its product says of each site; null: as the product says, 0: unlimited. */
export const limitation = {
  domainLimit: nullable(limit()),
  /** domains that may have certificates made for them */
  autoSSLLimit: nullable(limit()),
  /** ports beside the usual ones */
  portLimit: nullable(limit()),
};

export const siteTerms = calls(
  { base: '/client', resource: 'sites', ofSites: true, limited: 'sites' },
  {
    /** What is left out stays. What a site has beyond a limit stays too: it gets no more. */
    'PUT /site/limitations': {
      body: obj({
        ids: ids(),
        domainLimit: opt(limitation.domainLimit),
        autoSSLLimit: opt(limitation.autoSSLLimit),
        portLimit: opt(limitation.portLimit),
      }),
      errors: ['multiple'],
    },
    /** Sold as another product from now on: its group serves the site, its limits hold. Its ports must be open there. */
    'PUT /site/product/change': {
      body: obj({ ids: ids(), productID: id() }),
      errors: ['productSitesExceeded', 'siteHasLayer4Ports', 'inconsistentPorts', 'multiple'],
    },
    /** As the product says again: limits of its own are gone. */
    'PUT /site/product/refresh': { body: obj({ ids: ids() }), errors: ['multiple'] },
    /** Domains and ports are served from their backup origins alone, where they have any, and no origin is changed meanwhile. */
    'PATCH /site/forceBackup': { limited: false, body: obj({ ids: ids(), enabled: bool() }), errors: ['multiple'] },
    'GET /site/tags': { answer: arr(str(64), 1000) },
    /** `versions`: of these sites in their order, as they were seen; one that was changed since is told as stale, and keeps its tags */
    'PUT /site/tags': {
      body: obj({ ids: ids(), tags: tags(), versions: opt(arr(int(1, 999_999_999), 1000)) }),
      errors: ['multiple'],
    },
  },
);
