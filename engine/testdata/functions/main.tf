# Each output has what a function gives, and what it should give.

output "abs" {
  value = [abs(-3), 3]
}

output "ceil" {
  value = [ceil(1.2), 2]
}

output "floor" {
  value = [floor(-1.2), -2]
}

output "chomp" {
  value = [chomp("a\n\n"), "a"]
}

output "chunklist" {
  value = [chunklist(["a", "b", "c"], 2), [["a", "b"], ["c"]]]
}

output "coalesce" {
  value = [coalesce("", "b"), "b"]
}

output "coalescelist" {
  value = [coalescelist([], ["b"]), ["b"]]
}

output "compact" {
  value = [compact(["a", "", null]), ["a"]]
}

output "concat" {
  value = [concat(["a"], ["b"]), ["a", "b"]]
}

output "contains" {
  value = [contains(["a"], "a"), true]
}

output "csvdecode" {
  value = [csvdecode("a,b\n1,2\n"), [{ a = "1", b = "2" }]]
}

output "distinct" {
  value = [distinct(["a", "b", "a"]), ["a", "b"]]
}

output "element" {
  value = [element(["a", "b"], 3), "b"]
}

output "flatten" {
  value = [flatten([["a"], [["b"]]]), ["a", "b"]]
}

output "format" {
  value = [format("%s-%03d-%q", "a", 7, "b"), "a-007-\"b\""]
}

output "formatdate" {
  value = [formatdate("YYYY-MM-DD hh:mm", "2024-01-02T03:04:05Z"), "2024-01-02 03:04"]
}

output "formatlist" {
  value = [formatlist("%s!", ["a", "b"]), ["a!", "b!"]]
}

output "indent" {
  value = [indent(2, "a\nb"), "a\n  b"]
}

output "join" {
  value = [join("-", ["a", "b"]), "a-b"]
}

output "jsondecode" {
  value = [jsondecode("{\"a\":[1,true]}").a, [1, true]]
}

output "jsonencode" {
  value = [jsonencode({ b = 1, a = ["x<y"] }), "{\"a\":[\"x\\u003cy\"],\"b\":1}"]
}

output "keys" {
  value = [keys({ b = 1, a = 2 }), ["a", "b"]]
}

output "log" {
  value = [log(8, 2), 3]
}

output "lookup" {
  value = [lookup({ a = "x" }, "b", "y"), "y"]
}

output "lower" {
  value = [lower("AbÄ"), "abä"]
}

output "max" {
  value = [max(1, 3, 2), 3]
}

output "merge" {
  value = [merge({ a = 1 }, { b = 2, a = 3 }), { a = 3, b = 2 }]
}

output "min" {
  value = [min(4, 2), 2]
}

output "parseint" {
  value = [parseint("ff", 16), 255]
}

output "pow" {
  value = [pow(2, 10), 1024]
}

output "range" {
  value = [range(1, 7, 2), [1, 3, 5]]
}

output "regex" {
  value = [regex("(?P<y>[0-9]+)", "in 2024").y, "2024"]
}

output "regexall" {
  value = [regexall("[a-z]", "a1b"), ["a", "b"]]
}

output "reverse" {
  value = [reverse(["a", "b"]), ["b", "a"]]
}

output "setintersection" {
  value = [setintersection(["a", "b"], ["b"]), ["b"]]
}

output "setproduct" {
  value = [setproduct(["a"], ["x", "y"]), [["a", "x"], ["a", "y"]]]
}

output "setsubtract" {
  value = [setsubtract(["a", "b"], ["b"]), ["a"]]
}

output "setunion" {
  value = [setunion(["b"], ["a"]), ["a", "b"]]
}

output "signum" {
  value = [signum(-5), -1]
}

output "slice" {
  value = [slice(["a", "b", "c"], 1, 2), ["b"]]
}

output "sort" {
  value = [sort(["b", "a"]), ["a", "b"]]
}

output "split" {
  value = [split(",", "a,b"), ["a", "b"]]
}

output "strrev" {
  value = [strrev("abc"), "cba"]
}

output "substr" {
  value = [substr("abcdef", 1, 3), "bcd"]
}

output "timeadd" {
  value = [timeadd("2024-01-02T03:04:05Z", "1h"), "2024-01-02T04:04:05Z"]
}

output "title" {
  value = [title("hello world"), "Hello World"]
}

output "trim" {
  value = [trim("??a?", "?"), "a"]
}

output "trimprefix" {
  value = [trimprefix("prea", "pre"), "a"]
}

output "trimspace" {
  value = [trimspace(" a\n"), "a"]
}

output "trimsuffix" {
  value = [trimsuffix("apost", "post"), "a"]
}

output "upper" {
  value = [upper("abc"), "ABC"]
}

output "values" {
  value = [values({ b = 1, a = 2 }), [2, 1]]
}

output "zipmap" {
  value = [zipmap(["a", "b"], [1, 2]), { a = 1, b = 2 }]
}

output "try" {
  value = [try({}.a, "b"), "b"]
}

output "can" {
  value = [can({}.a), false]
}

output "yamlencode" {
  value = [yamlencode({ a = [1] }), "\"a\":\n- 1\n"]
}

output "yamldecode" {
  value = [yamldecode("a: [1, x]").a, [1, "x"]]
}

output "tostring" {
  value = [tostring(1), "1"]
}

output "tonumber" {
  value = [tonumber("1"), 1]
}

output "tobool" {
  value = [tobool("true"), true]
}

output "tolist" {
  value = [tolist(["b", "a"]), ["b", "a"]]
}

output "toset" {
  value = [toset(["b", "a", "b"]), ["a", "b"]]
}

output "tomap" {
  value = [tomap({ a = 1 }), { a = 1 }]
}

output "length_list" {
  value = [length(["a"]), 1]
}

output "length_text" {
  value = [length("äö"), 2]
}

output "length_map" {
  value = [length({ a = 1, b = 2 }), 2]
}

output "length_set" {
  value = [length(toset(["a"])), 1]
}

output "one_of_one" {
  value = [one(["a"]), "a"]
}

output "one_of_none" {
  value = [one([]), null]
}

output "one_of_set" {
  value = [one(toset(["x"])), "x"]
}

output "sum" {
  value = [sum([1, 2, 3.5]), 6.5]
}

output "alltrue" {
  value = [alltrue([true, false]), false]
}

output "alltrue_none" {
  value = [alltrue([]), true]
}

output "anytrue" {
  value = [anytrue([false, true]), true]
}

output "index" {
  value = [index(["a", "b"], "b"), 1]
}

output "transpose" {
  value = [transpose({ a = ["x", "y"], b = ["y"] }), { x = ["a"], y = ["a", "b"] }]
}

output "matchkeys" {
  value = [matchkeys(["a", "b"], ["x", "y"], ["y"]), ["b"]]
}

output "issensitive" {
  value = [issensitive(sensitive("a")), true]
}

output "nonsensitive" {
  value = [nonsensitive(sensitive("a")), "a"]
}

output "cidrhost" {
  value = [cidrhost("10.1.2.240/28", 1), "10.1.2.241"]
}

output "cidrhost_back" {
  value = [cidrhost("10.1.2.240/28", -2), "10.1.2.254"]
}

output "cidrhost_6" {
  value = [cidrhost("fd00:fd12:3456:7890::/56", 34), "fd00:fd12:3456:7800::22"]
}

output "cidrnetmask" {
  value = [cidrnetmask("172.16.0.0/12"), "255.240.0.0"]
}

output "cidrsubnet" {
  value = [cidrsubnet("172.16.0.0/12", 4, 2), "172.18.0.0/16"]
}

output "cidrsubnet_6" {
  value = [cidrsubnet("fd00:fd12:3456:7890::/56", 16, 162), "fd00:fd12:3456:7800:a200::/72"]
}

output "cidrsubnets" {
  value = [cidrsubnets("10.1.0.0/16", 4, 4, 8, 4), ["10.1.0.0/20", "10.1.16.0/20", "10.1.32.0/24", "10.1.48.0/20"]]
}

output "startswith" {
  value = [startswith("abc", "ab"), true]
}

output "endswith" {
  value = [endswith("abc", "ab"), false]
}

output "strcontains" {
  value = [strcontains("abc", "b"), true]
}

output "replace" {
  value = [replace("a+b", "+", "-"), "a-b"]
}

output "replace_pattern" {
  value = [replace("hello", "/l+/", "L"), "heLo"]
}

output "replace_groups" {
  value = [replace("ab", "/(a)(b)/", "$2$1"), "ba"]
}

output "urlencode" {
  value = [urlencode("a b/ö"), "a+b%2F%C3%B6"]
}

output "urldecode" {
  value = [urldecode("a+b%2F"), "a b/"]
}

output "uuidv5" {
  value = [uuidv5("dns", "example.com"), "cfbff0d1-9375-5685-968c-48ce8b15ae17"]
}

output "uuidv5_id" {
  value = [uuidv5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "example.com"), "cfbff0d1-9375-5685-968c-48ce8b15ae17"]
}

output "timecmp" {
  value = [timecmp("2024-01-02T03:04:05Z", "2024-01-02T04:04:05+01:00"), 0]
}

output "base64encode" {
  value = [base64encode("hello"), "aGVsbG8="]
}

output "base64decode" {
  value = [base64decode("aGVsbG8="), "hello"]
}

output "md5" {
  value = [md5("a"), "0cc175b9c0f1b6a831c399e269772661"]
}

output "sha1" {
  value = [sha1("a"), "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"]
}

output "sha256" {
  value = [sha256("a"), "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"]
}

output "sha512_same" {
  value = [sha512("a") == filesha512("files/a.txt"), false]
}

output "base64sha256" {
  value = [base64sha256("a"), "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="]
}

output "base64sha512" {
  value = [length(base64sha512("a")), 88]
}

output "file" {
  value = [file("files/a.txt"), "hello\n"]
}

output "filebase64" {
  value = [filebase64("files/a.txt"), "aGVsbG8K"]
}

output "fileexists" {
  value = [fileexists("files/a.txt"), true]
}

output "fileexists_not" {
  value = [fileexists("files/none"), false]
}

output "fileset" {
  value = [fileset("files", "*.txt"), ["a.txt"]]
}

output "fileset_deep" {
  value = [fileset(path.module, "files/**/*.txt"), ["files/a.txt", "files/deep/b.txt"]]
}

output "filemd5" {
  value = [filemd5("files/a.txt"), "b1946ac92492d2347c6235b4d2611184"]
}

output "filesha1" {
  value = [filesha1("files/a.txt"), "f572d396fae9206628714fb2ce00f72e94f2258f"]
}

output "filesha256" {
  value = [filesha256("files/a.txt"), "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"]
}

output "filebase64sha256" {
  value = [filebase64sha256("files/a.txt"), "WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM="]
}

output "filebase64sha512" {
  value = [length(filebase64sha512("files/a.txt")), 88]
}

output "basename" {
  value = [basename("a/b.txt"), "b.txt"]
}

output "dirname" {
  value = [dirname("a/b.txt"), "a"]
}

output "abspath" {
  value = [basename(abspath("files")), "files"]
}

output "pathexpand" {
  value = [pathexpand("a/~b"), "a/~b"]
}

output "templatefile" {
  value = [templatefile("files/t.tftpl", { name = "Ann", list = ["x", "y"] }), "Hi Ann X Y"]
}

output "coalesce_number" {
  value = [coalesce(null, 2), 2]
}

output "templatestring" {
  value = [templatestring("$${a}!", { a = "x" }), "x!"]
}

output "base64gunzip" {
  value = [base64gunzip(base64gzip("packed")), "packed"]
}

output "cidrcontains" {
  value = [cidrcontains("10.0.0.0/8", "10.1.0.0/16"), true]
}

output "cidrcontains_address" {
  value = [cidrcontains("10.0.0.0/8", "11.1.0.1"), false]
}

output "splat" {
  value = [[{ a = 1 }, { a = 2 }][*].a, [1, 2]]
}

output "conditional" {
  value = [1 > 2 ? "a" : "b", "b"]
}

output "for_map" {
  value = [{ for k, v in { a = 1, b = 2 } : upper(k) => v * 2 if v > 1 }, { B = 4 }]
}

output "for_grouped" {
  value = [{ for s in ["a1", "a2", "b1"] : substr(s, 0, 1) => s... }, { a = ["a1", "a2"], b = ["b1"] }]
}

output "heredoc" {
  value = [<<-EOT
      x
        y
    EOT
  , "x\n  y\n"]
}

output "directive" {
  value = ["%{if 1 == 1}yes%{else}no%{endif}", "yes"]
}

output "textencodebase64" {
  value = [textencodebase64("aö", "UTF-16LE"), "YQD2AA=="]
}

output "textencodebase64_alias" {
  value = [textencodebase64("ö", "latin1"), "9g=="]
}

output "textdecodebase64" {
  value = [textdecodebase64("YQD2AA==", "UTF-16LE"), "aö"]
}

output "textdecodebase64_japanese" {
  value = [textdecodebase64("k/qWew==", "Shift_JIS"), "日本"]
}

output "rsadecrypt" {
  value = [rsadecrypt("QrSm3I507t6bOf/QoR4wNrw8T1LwyMX5aoKmPaIAVOzmBzw58WhVIiR9rMPEe5uW7dXgbKel2e3Er4mms9ryjyclCVkaYlWylt8g+NpRSJVGAeHJjKoMrnit9YJJXwrZdG/kplQ8vVCSOtADgNlj1W10wI5wOV1SMesquIlV8iY=", file("files/key.pem")), "secret"]
}

output "ephemeralasnull" {
  value = [ephemeralasnull({ a = ["b", null] }), { a = ["b", null] }]
}

output "core" {
  value = [core::upper("a"), "A"]
}

output "core_template" {
  value = [core::templatestring("$${core::upper(x)}", { x = "a" }), "A"]
}
