import type { SameAs } from '../kit/text.ts';
import domain from '../domain/tasks.en_US.ts';
import module from '../module/tasks.en_US.ts';
import node from '../node/tasks.en_US.ts';
import resolution from '../resolution/tasks.en_US.ts';
import type { tasks } from './tasks.zh_TW.ts';

export default {
  'taskLine.started': 'Started',
  'taskLine.resumed': 'The program that did it was gone; going on from where it stood',
  'taskLine.retrying': 'Try {attempt} got nowhere; the next is in {seconds} s:',
  'taskLine.retried': 'Somebody asked to try again',
  'taskLine.cancelled': 'Stopped',
  'taskLine.failed': 'Failed:',
  'taskLine.ended': 'Ended; {failed} could not be done',
  'taskLine.succeeded': 'All done',

  ...domain,
  ...module,
  ...node,
  ...resolution,
} satisfies SameAs<typeof tasks>;
