/** Sentences of rules (texts.ts) about nodes, and what is done with them. */
import type { Text } from '../kit/text.ts';

export const nodeTexts = {
  taskOpen: {
    zh_TW: '同類任務同時只能進行一項。請等目前這一項結束，或先取消它',
    zh_CN: '同类任务同时只能进行一项。请等目前这一项结束，或先取消它',
    en_US: 'Only one task of this kind may be under way. Wait until the current one has ended, or cancel it first',
  },
} as const satisfies Record<string, Text>;
