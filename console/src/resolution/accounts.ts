/** What tells settings of one kind apart. */
export const accountOf = ({ server, keyName, memo }: { server: string; keyName: string; memo: string }): string =>
  [server || keyName, memo].filter(Boolean).join(' · ');
