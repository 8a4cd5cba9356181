import { cors } from '#contract/module/cors.ts';
import { moduleRows } from './rows.ts';

export const corsImplementation = moduleRows(cors);
