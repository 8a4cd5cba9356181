-- Constants of contract/src/limits.ts that the edge goes by, made of it. After a change there:
-- UPDATE_GOLDEN=1 node --test contract/test/limits.test.ts
return {
  ownStatuses = { drop = 444, unknownDomain = 903, notServing = 904, limited = 929, challenge = 978 },
}
