/**
 * Mounted calls that no screen calls, each with the reason. `waits`: a screen is owed; that list only shrinks. `apiOnly`: for scripts
 * and machines, by a decision.
 */
export const waitsMost = 12;
export const waits: Readonly<Record<string, string>> = {
  'GET /{area}/account/{id}/subs': 'the list of accounts shows all below oneself, not yet those below one of them',
  'GET /{area}/site/{siteID}/metaDomains': 'no form chooses among the domains of a site yet',
  'GET /{area}/site/{siteID}/domain/{domainID}': 'the list holds what the form of a domain needs; no link leads to one domain',
  'POST /{area}/site/{siteID}/domains/export': 'the list of domains has no export yet',
  'DELETE /{area}/site/{siteID}/domainsByNames': 'domains are deleted by their check boxes; no field takes names',
  'PUT /client/site/expired': 'the list of sites has no action for the day it ends',
  'POST /client/site/users': 'a site is shown to accounts by no form yet',
  'DELETE /client/site/users': 'a site is shown to accounts by no form yet',
  'POST /user/site/users': 'a site is shown to accounts by no form yet',
  'DELETE /user/site/users': 'a site is shown to accounts by no form yet',
  'GET /user/site/tags': 'sites have no tags on the screen yet',
  'PUT /user/site/{siteID}/tags': 'sites have no tags on the screen yet',
};
export const apiOnly: Readonly<Record<string, string>> = {
  'POST /node/join': 'a new machine calls it',
  'POST /node/credentials': 'a node calls it',
  'GET /{area}/site/{siteID}/applied/stream': 'for scripts that wait until a change is live; the screen asks `applied` by itself',
};
