import { belowSites, headOf, type Source } from '../source.ts';

export interface ChallengeRow {
  host: string;
  tokens: { token: string; answer: string }[];
}

/** What an authority is answered that asks whether a domain is ours; while nobody asks, there is none. */
export const challenge: Source<'challenge', ChallengeRow> = {
  text: belowSites(
    'domain',
    'd',
    `jsonb_build_object('host', d."domainName", 'tokens', (select jsonb_agg(to_jsonb(t)) from (
       select c.token, c.answer from "acmeChallenge" c where c."domainID" = d.id order by c.id desc limit 10) t))`,
    `exists (select from "acmeChallenge" c where c."domainID" = d.id)`,
  ),
  compile: loaded => {
    const { host, tokens } = loaded.row;
    return { ...headOf(loaded), host, tokens: tokens.map(({ token, answer }) => ({ token, answer })) };
  },
};
