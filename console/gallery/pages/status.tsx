import { Facts, Status, Tags } from '../../src/kit/bits.tsx';
import { Copied } from '../../src/kit/copy.tsx';
import { AnswerStatus, Toned } from '../../src/kit/status.tsx';
import { Until } from '../../src/kit/until.tsx';
import { hours } from '../fake.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

export default [
  {
    state: 'normal',
    show: () => (
      <Facts
        facts={[
          ['status', <Status key="good" value="normal" />],
          ['status', <Status key="warn" value="warning" />],
          ['status', <Status key="bad" value="error" />],
          ['status', <Status key="idle" value="disabled" />],
          [
            'id',
            <Toned key="toned" tone="good">
              203.0.113.7
            </Toned>,
          ],
          ['status', <AnswerStatus key="answered" status={200} />],
          ['status', <AnswerStatus key="refused" status={404} />],
          ['status', <AnswerStatus key="failed" status={502} />],
          ['tags', <Tags key="tags" values={['cdn', 'static', 'asia']} />],
          ['until', <Until key="until" time={hours(5)} />],
          ['past', <Until key="past" time={hours(-49)} />],
          ['id', <Copied key="copied" text="203.0.113.7" />],
        ]}
      />
    ),
  },
  {
    state: 'empty',
    show: () => <Facts facts={[['tags', <Tags key="none" values={[]} />]]} />,
  },
  {
    state: 'long',
    show: () => (
      <Facts
        facts={[
          [say(long).slice(0, 40), say(long)],
          ['host', unbroken],
          ['tags', <Tags key="tags" values={[unbroken]} />],
        ]}
      />
    ),
  },
  { state: 'many', show: () => <Tags values={Array.from({ length: 40 }, (_, index) => `tag-${index}`)} /> },
] satisfies Example[];
