import * as z from 'zod/mini';
import { customHeaderFields } from '../../module/custom-headers.ts';
import { moduleType } from './type.ts';

export const customHeader = moduleType({ name: 'customHeader', content: z.object(customHeaderFields) });
