// Programs that check the code, in a module of their own so that what they depend on stays out of the product's.
module github.com/pinnace-io/pinnace/hack/tools

go 1.26.0
