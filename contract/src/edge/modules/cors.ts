import * as z from 'zod/mini';
import { corsFields } from '../../module/cors.ts';
import { moduleType } from './type.ts';

export const cors = moduleType({ name: 'cors', content: z.object(corsFields) });
