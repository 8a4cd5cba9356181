export default {
  'system.note': '只影響自己的營運商。',
} as const;
