/**
 * Mounted calls that no screen calls, each with the reason. `waits`: a screen is owed; that list only shrinks. `apiOnly`: for scripts
 * and machines, by a decision.
 */
export const waitsMost = 0;
export const waits: Readonly<Record<string, string>> = {};
export const apiOnly: Readonly<Record<string, string>> = {
  'GET /client/health': 'for those who watch from outside; screens ask systemHealth, which says what is wrong',
  'POST /node/join': 'a new machine calls it',
  'POST /node/credentials': 'a node calls it',
  'GET /client/setting/dns/cname/meta':
    'for scripts that make domains and say what they are to lead to; the screen has the whole list',
  'GET /{area}/site/{siteID}/metaCertificates': 'for scripts; a screen gives a certificate to domains, not the other way round',
  'GET /{area}/site/{siteID}/applied/stream': 'for scripts that wait until a change is live; the screen asks `applied` by itself',
};
