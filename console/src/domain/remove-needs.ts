/** What deleting domains by their names cannot do without: without the names there is nothing to judge the lines by. */
export const removeNeeds = ['DELETE /{area}/site/{siteID}/domainsByNames', 'GET /{area}/site/{siteID}/metaDomains'] as const;
