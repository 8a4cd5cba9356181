import { largestBodies } from './largest-bodies.ts';

largestBodies(1, 3);
