package workspace

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxNested is how deep the brackets of a value may nest.
const maxNested = 100

// notConstant says why a value is more than a constant, which is all that a variable can be;
// empty if it is none. It looks at tokens: the parser descends as deep as brackets and signs
// nest, until the process ends with its stack, and a loop of a few bytes can compute for years.
func notConstant(value string) string {
	tokens, _ := hclsyntax.LexExpression([]byte(value), "value", hcl.InitialPos)
	depth, before := 0, hclsyntax.TokenEOF
	for _, token := range tokens {
		kind := token.Type
		switch kind {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			continue
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
			if depth++; depth > maxNested {
				return "its brackets nest too deep"
			}
			if kind == hclsyntax.TokenOBrack && !slices.Contains(beginnings(), before) {
				return "it computes"
			}
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
			depth = max(depth-1, 0)
		case hclsyntax.TokenMinus:
			if !slices.Contains(beginnings(), before) {
				return "it computes"
			}
		case hclsyntax.TokenIdent:
			if string(token.Bytes) == "for" && (before == hclsyntax.TokenOBrace || before == hclsyntax.TokenOBrack) {
				return "it computes"
			}
		default:
			if slices.Contains(operators(), kind) {
				return "it computes"
			}
		}
		before = kind
	}
	return ""
}

// beginnings are the tokens that a constant comes behind; TokenEOF stands for none.
func beginnings() []hclsyntax.TokenType {
	return []hclsyntax.TokenType{
		hclsyntax.TokenEOF, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenComma, hclsyntax.TokenEqual,
		hclsyntax.TokenColon,
	}
}

// operators are the tokens of what is more than a constant. What is no HCL at all is left to the
// parser.
func operators() []hclsyntax.TokenType {
	return []hclsyntax.TokenType{
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenQuestion, hclsyntax.TokenBang,
		hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent, hclsyntax.TokenAnd,
		hclsyntax.TokenOr,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenDot, hclsyntax.TokenEllipsis,
	}
}
